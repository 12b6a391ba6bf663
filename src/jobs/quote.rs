//! Text as a literal of other languages.

/// A word of a POSIX shell.
pub fn shell(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./=:,+@".contains(&byte);
    match !text.is_empty() && text.bytes().all(plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

/// Words of a POSIX shell, with spaces between them.
pub fn shell_words<'a>(words: impl IntoIterator<Item = &'a String>) -> String {
    let words: Vec<String> = words.into_iter().map(|word| shell(word)).collect();
    words.join(" ")
}

/// A string in double quotes that JSON, YAML, JavaScript and Python read alike.
pub fn string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A list of such strings.
pub fn strings(texts: &[String]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| string(text)).collect();
    format!("[{}]", texts.join(", "))
}

/// Text in an element or attribute of XML.
pub fn xml(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::super::fixture::STORE;
    use super::*;

    #[test]
    fn a_shell_reads_back_what_was_quoted() {
        for text in [STORE, "", "plain-1.2/x", "two\nlines", "ü *", "~", "#"] {
            let command = format!("printf %s {}", shell(text));
            let Ok(done) = std::process::Command::new("sh")
                .args(["-c", &command])
                .output()
            else {
                eprintln!("skipped: no POSIX shell here");
                return;
            };
            assert_eq!(String::from_utf8_lossy(&done.stdout), text);
        }
    }

    #[test]
    fn strings_are_those_of_json() {
        let list = strings(&[STORE.to_owned(), "two\nlines".to_owned()]);
        let read: Vec<String> = serde_json::from_str(&list).unwrap();
        assert_eq!(read, [STORE, "two\nlines"]);
    }

    #[test]
    fn xml_has_no_markup_left() {
        assert_eq!(
            xml("<a b=\"c\">&amp;"),
            "&lt;a b=&quot;c&quot;&gt;&amp;amp;"
        );
    }
}
