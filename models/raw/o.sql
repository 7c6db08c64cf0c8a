SELECT i FROM range(20) t(i)
