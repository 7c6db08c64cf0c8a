//! What was answered.

/// A complete answer of a server, whatever its status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The status.
    pub status: u16,
    /// Names in their canonical form and values, in the order of the message. A name with several values has several
    /// entries. Values that are not UTF-8 are read as ISO-8859-1.
    pub headers: Vec<(String, String)>,
    /// The body, unpacked.
    pub body: Vec<u8>,
    /// The URL that gave this answer: that of the request, or of the last redirect. Without secret parameters.
    pub url: String,
}

impl Response {
    /// The first value of a header, by its name in any case.
    pub fn header(&self, name: &str) -> Option<&str> {
        first(&self.headers, name)
    }
}

pub(crate) fn first<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers.iter().find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}
