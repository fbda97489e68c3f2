//! The words of a name.

/// The words of `text`, in lower case: `OAuthToken_v2` is `oauth`, `token`, `v2`.
///
/// Whole words are what tells `auth/` from `authors/`.
pub(crate) fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let characters: Vec<char> = text.chars().collect();
    for (index, &character) in characters.iter().enumerate() {
        let previous = index.checked_sub(1).map(|index| characters[index]);
        let next = characters.get(index + 1);
        if !character.is_alphanumeric() {
            end(&mut words, &mut word);
            continue;
        }
        let hump = character.is_uppercase()
            && (previous.is_some_and(char::is_lowercase)
                || (previous.is_some_and(char::is_uppercase)
                    && next.is_some_and(|next| next.is_lowercase())
                    && word.chars().count() > 1));
        if hump {
            end(&mut words, &mut word);
        }
        word.extend(character.to_lowercase());
    }
    end(&mut words, &mut word);
    words
}

fn end(words: &mut Vec<String>, word: &mut String) {
    if !word.is_empty() {
        words.push(std::mem::take(word));
    }
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn names_fall_into_words() {
        let cases: [(&str, &[&str]); 6] = [
            ("auth_service.go", &["auth", "service", "go"]),
            ("src/userAuth.ts", &["src", "user", "auth", "ts"]),
            ("HTTPServer", &["http", "server"]),
            ("OAuthToken_v2", &["oauth", "token", "v2"]),
            (".env.local", &["env", "local"]),
            ("authors", &["authors"]),
        ];
        for (text, expected) in cases {
            assert_eq!(words(text), expected, "{text}");
        }
    }
}
