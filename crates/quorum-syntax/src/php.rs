//! The PHP of a page.
//!
//! Between `?>` and `<?php` a file holds HTML, and the grammar reads some of it as code: a single
//! `<table class="…">` can hide every function of a file. So the HTML is taken out before the file is
//! parsed. What is left keeps its bytes and lines, and is what the language makes of it: `?>` ends a
//! statement, and `<?=` prints.

use memchr::{memchr, memmem};

/// The source without its HTML; absent where there is none.
pub(crate) fn without_html(source: &[u8]) -> Option<Vec<u8>> {
    let start = source.iter().position(|byte| !byte.is_ascii_whitespace())?;
    let begins = opener(&source[start..]).is_some_and(|tag| tag != Tag::Echo);
    let ends = memmem::find(source, b"?>");
    let plain = |at: usize| source.get(at + 2..).is_none_or(|rest| rest.trim_ascii().is_empty());
    if begins && ends.is_none_or(plain) {
        return None;
    }
    let mut page = Page { source, out: Vec::with_capacity(source.len()), at: 0, free: 0 };
    page.read();
    Some(page.out)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Tag {
    /// `<?php`
    Long,
    /// `<?`
    Short,
    /// `<?=`
    Echo,
}

impl Tag {
    fn len(self) -> usize {
        match self {
            Self::Long => 5,
            Self::Short => 2,
            Self::Echo => 3,
        }
    }
}

/// The tag that a text begins with.
fn opener(text: &[u8]) -> Option<Tag> {
    let rest = text.strip_prefix(b"<?")?;
    let word = |word: &[u8]| rest.get(..3).is_some_and(|start| start.eq_ignore_ascii_case(word));
    if rest.first() == Some(&b'=') {
        Some(Tag::Echo)
    } else if word(b"php") && rest.get(3).is_none_or(u8::is_ascii_whitespace) {
        Some(Tag::Long)
    } else if word(b"xml") || rest.first().is_some_and(u8::is_ascii_alphabetic) {
        None
    } else {
        Some(Tag::Short)
    }
}

struct Page<'s> {
    source: &'s [u8],
    out: Vec<u8>,
    at: usize,
    /// Where what was written after the last PHP begins: nothing but blanks.
    free: usize,
}

impl Page<'_> {
    fn read(&mut self) {
        while self.at < self.source.len() {
            self.html();
            self.code();
        }
    }

    /// Blanks everything up to the next tag, and the tag.
    fn html(&mut self) {
        while self.at < self.source.len() {
            let rest = &self.source[self.at..];
            let Some(found) = memchr(b'<', rest) else {
                self.blank(rest.len());
                return;
            };
            self.blank(found);
            if let Some(tag) = opener(&self.source[self.at..]) {
                self.blank(tag.len());
                if tag == Tag::Echo {
                    self.echo();
                }
                return;
            }
            self.blank(1);
        }
    }

    /// Writes `echo` in the place of `<?=`, which is one byte shorter: ends of lines before it move
    /// one byte ahead, so that every line keeps its number.
    fn echo(&mut self) {
        let tag = self.out.len() - 3;
        let mut ends = tag;
        while ends > self.free && self.out[ends - 1] == b'\n' {
            ends -= 1;
        }
        if ends > self.free {
            self.out[ends - 1..tag].rotate_left(1);
            self.out[tag - 1..].copy_from_slice(b"echo");
        }
    }

    /// Copies code up to `?>`, which becomes the end of a statement where none has ended.
    fn code(&mut self) {
        let start = self.out.len();
        while let Some(&byte) = self.source.get(self.at) {
            let rest = &self.source[self.at..];
            if rest.starts_with(b"?>") {
                let last = self.out[start..].iter().rev().find(|byte| !byte.is_ascii_whitespace());
                let ended = last.is_none_or(|byte| b":;{}".contains(byte));
                self.out.push(if ended { b' ' } else { b';' });
                self.free = self.out.len();
                self.out.push(b' ');
                self.at += 2;
                return;
            }
            match byte {
                b'\'' | b'"' | b'`' => self.quoted(byte),
                b'#' if rest.get(1) != Some(&b'[') => self.comment(),
                b'/' if rest.get(1) == Some(&b'/') => self.comment(),
                b'/' if rest.get(1) == Some(&b'*') => {
                    let end = memmem::find(&rest[2..], b"*/").map_or(rest.len(), |at| at + 4);
                    self.copy(end);
                }
                b'<' if rest.starts_with(b"<<<") => self.heredoc(),
                _ => self.copy(1),
            }
        }
    }

    fn quoted(&mut self, quote: u8) {
        let mut end = 1;
        let rest = &self.source[self.at..];
        while let Some(&byte) = rest.get(end) {
            end += 1;
            if byte == b'\\' {
                end += 1;
            } else if byte == quote {
                break;
            }
        }
        self.copy(end.min(rest.len()));
    }

    /// A comment of one line ends where its line does, or at `?>`; there it would hide what follows.
    fn comment(&mut self) {
        let rest = &self.source[self.at..];
        let line = memchr(b'\n', rest).unwrap_or(rest.len());
        match memmem::find(&rest[..line], b"?>") {
            Some(end) => self.blank(end),
            None => self.copy(line),
        }
    }

    /// `<<<NAME`, up to a line that begins with the name.
    fn heredoc(&mut self) {
        let rest = &self.source[self.at..];
        let line = memchr(b'\n', rest).unwrap_or(rest.len());
        let name = rest[3..line].trim_ascii();
        let name = name.strip_prefix(b"'").or_else(|| name.strip_prefix(b"\"")).unwrap_or(name);
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
        let name = &name[..name.iter().take_while(|byte| is_part(byte)).count()];
        if name.is_empty() {
            self.copy(3);
            return;
        }
        let mut at = line;
        while at < rest.len() {
            let start = at + 1;
            let end = memchr(b'\n', rest.get(start..).unwrap_or_default())
                .map_or(rest.len(), |end| start + end);
            let text = rest.get(start..end).unwrap_or_default();
            let indent = text.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
            let after = text[indent..].strip_prefix(name);
            if after.is_some_and(|after| !after.first().is_some_and(is_part)) {
                self.copy(start + indent + name.len());
                return;
            }
            at = end;
        }
        self.copy(rest.len());
    }

    fn copy(&mut self, bytes: usize) {
        let end = (self.at + bytes).min(self.source.len());
        self.out.extend_from_slice(&self.source[self.at..end]);
        self.at = end;
    }

    fn blank(&mut self, bytes: usize) {
        let end = (self.at + bytes).min(self.source.len());
        let kept = |&byte: &u8| if byte == b'\n' { byte } else { b' ' };
        self.out.extend(self.source[self.at..end].iter().map(kept));
        self.at = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Lang, parse};

    fn php(page: &str) -> String {
        let out = without_html(page.as_bytes()).expect("a page");
        assert_eq!(out.len(), page.len());
        let ends = |bytes: &[u8]| memchr::memchr_iter(b'\n', bytes).count();
        assert_eq!(ends(&out), ends(page.as_bytes()));
        String::from_utf8(out).expect("text")
    }

    fn words(page: &str) -> String {
        php(page).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_is_left_is_what_runs() {
        assert_eq!(words("<p>a</p><?php f() ?>\n<b>x"), "f() ;");
        assert_eq!(words("<p><?= $x ?></p>\n<?= $y ?>"), "echo $x ; echo $y ;");
        assert_eq!(words("<p>\n\n<?=$x?><?=$y?>"), "echo$x;echo$y;");
        assert_eq!(
            words("<?php if ($a): ?><p>?></p><?php else: ?>b<?php endif ?>"),
            "if ($a): else: endif ;"
        );
        assert_eq!(
            words("<? switch ($a): ?>\n<? case 1: ?>x<? endswitch; ?>"),
            "switch ($a): case 1: endswitch;"
        );
        assert_eq!(words("<?xml version=\"1.0\"?><?php f();"), "f();");
    }

    #[test]
    fn an_end_in_a_string_is_none_and_in_a_comment_is_one() {
        assert_eq!(words("x<?php $a = '?>' . \"\\\"?>\"; ?>y"), "$a = '?>' . \"\\\"?>\";");
        assert_eq!(words("x<?php // note ?>y<?php f(); # [x ?>z"), "f();");
        assert_eq!(words("x<?php /* ?> */ f(); ?>"), "/* ?> */ f();");
        let text = "x<?php $a = <<<'END'\n ?>\n  END . g(); ?>y<?php h();";
        assert_eq!(words(text), "$a = <<<'END' ?> END . g(); h();");
    }

    #[test]
    fn code_alone_is_left_as_it_is() {
        assert_eq!(without_html(b"<?php f();\n"), None);
        assert_eq!(without_html(b"\n<?php f(); ?>\n"), None);
    }

    #[test]
    fn tables_do_not_hide_functions() {
        let page = "<?php\nfunction a($x) {\n  if ($x): ?>\n<table class=\"wide\">\n<td onclick='f(\"<\")'><?= $x ?></td>\n<?php endif;\n}\n?>\n<table class=x>\n<?php function b() { foreach ($y as $z) { ?>\n<li><?= $z ?>\n<?php } }\n";
        let tree = parse(page.as_bytes(), Lang::Php).expect("it parses");
        let root = tree.root_node();
        assert!(!root.has_error(), "{}", root.to_sexp());
        let mut cursor = root.walk();
        let functions: Vec<usize> = root
            .children(&mut cursor)
            .filter(|node| node.kind() == "function_definition")
            .map(|node| node.start_position().row)
            .collect();
        assert_eq!(functions, [1, 9]);
    }
}
