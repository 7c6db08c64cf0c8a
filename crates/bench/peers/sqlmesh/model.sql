MODEL (
  name <schema>.<name>,
  kind FULL
);

<query>
