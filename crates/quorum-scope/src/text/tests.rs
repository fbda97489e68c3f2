use super::*;

const CODE: &str = "import os\nos.system(input())\n";

fn text_of(path: &str, bytes: &[u8], is_code: bool) -> Option<String> {
    match read(path, bytes.to_vec(), is_code) {
        Readable::Plain(text) | Readable::Decoded { text, .. } => String::from_utf8(text).ok(),
        Readable::Media(_) | Readable::Elsewhere | Readable::Undecoded(_) | Readable::Binary => {
            None
        }
    }
}

fn wide(units: impl Iterator<Item = Vec<u8>>) -> Vec<u8> {
    units.flatten().collect()
}

#[test]
fn every_unicode_encoding_reads_the_same() {
    let text = format!("{CODE}# Grüße, 世界\n");
    let two_le = wide(text.encode_utf16().map(|unit| unit.to_le_bytes().to_vec()));
    let two_be = wide(text.encode_utf16().map(|unit| unit.to_be_bytes().to_vec()));
    let four_le = wide(text.chars().map(|unit| u32::from(unit).to_le_bytes().to_vec()));
    let four_be = wide(text.chars().map(|unit| u32::from(unit).to_be_bytes().to_vec()));
    let marked = |mark: &[u8], bytes: &[u8]| [mark, bytes].concat();
    let forms = [
        text.clone().into_bytes(),
        two_le.clone(),
        two_be.clone(),
        four_le.clone(),
        four_be.clone(),
        marked(&[0xff, 0xfe], &two_le),
        marked(&[0xfe, 0xff], &two_be),
        marked(&[0xff, 0xfe, 0, 0], &four_le),
        marked(&[0, 0, 0xfe, 0xff], &four_be),
    ];
    for (number, form) in forms.iter().enumerate() {
        for is_code in [true, false] {
            let found = text_of("a.py", form, is_code);
            assert_eq!(found.as_deref(), Some(text.as_str()), "form {number}");
        }
    }
}

#[test]
fn old_encodings_are_told_by_their_bytes() {
    let cases: [(&[u8], &str); 3] = [
        (b"# caf\xe9 au lait, d\xe9j\xe0 vu\nx = 1\n", "café"),
        (
            b"# \x82\xb1\x82\xea\x82\xcd\x83\x65\x83\x58\x83\x67\x82\xc5\x82\xb7\nx = 1\n",
            "これはテスト",
        ),
        (b"# \xcf\xf0\xe8\xe2\xe5\xf2, \xea\xe0\xea \xe4\xe5\xeb\xe0\nx = 1\n", "Привет"),
    ];
    for (bytes, expected) in cases {
        let text = text_of("a.py", bytes, true).expect("it is text");
        assert!(text.contains(expected) && text.ends_with("x = 1\n"), "{text}");
    }
}

#[test]
fn a_zero_byte_is_shown() {
    let text = text_of("a.py", b"x = 1 # \0\nos.system(input())\n", true);
    assert_eq!(text.as_deref(), Some("x = 1 # \u{2400}\nos.system(input())\n"));
    assert_eq!(read("a.bin", vec![0, 1, 2, 3, 200, 201, 0, 7], false), Readable::Binary);
}

#[test]
fn a_byte_order_mark_before_plain_text_hides_nothing() {
    let text = text_of("a.php", b"\xff\xfe<?php system($_GET['x']); ?>\n", true);
    assert!(text.is_some_and(|text| text.contains("system($_GET['x'])")));
}

#[test]
fn a_carriage_return_alone_ends_a_line() {
    assert_eq!(text_of("a.py", b"# note\ros.x()\r", true).as_deref(), Some("# note\nos.x()\n"));
    let windows = b"a\r\nb\r\n".to_vec();
    assert_eq!(read("a.py", windows.clone(), true), Readable::Plain(windows));
}

#[test]
fn media_needs_its_bytes_and_its_ending_and_no_code() {
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x01\0".to_vec();
    assert_eq!(read("a.PNG", png.clone(), false), Readable::Media("an image"));
    assert_eq!(read("a.dat", png.clone(), false), Readable::Binary);
    let noise: Vec<u8> = (0..=255).cycle().take(600).collect();
    assert_eq!(read("a.png", noise.clone(), false), Readable::Binary);
    let hidden = [png.as_slice(), b"<?php system($_GET[0]);"].concat();
    assert!(!matches!(read("a.png", hidden, false), Readable::Media(_)));
    let script = [b"GIF89a/*".as_slice(), &noise, b"*/=1;alert(1)"].concat();
    assert!(!matches!(read("a.gif", script, false), Readable::Media(_)));
    assert!(text_of("a.gif", b"GIF89a=1;alert(document.cookie)", false).is_some());
}

#[test]
fn a_pointer_is_not_what_it_points_to() {
    let pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 12345\n";
    assert_eq!(read("model.py", pointer.to_vec(), true), Readable::Elsewhere);
}

#[test]
fn lines_of_a_diff_lose_the_halves_of_wide_characters() {
    let body = b"+i\0m\0p\0o\0r\0t\0 \0o\0s\0\n";
    assert_eq!(read_hunk(body).as_deref(), Some(b"+import os\n".as_slice()));
    assert_eq!(read_hunk(b"+plain\n"), None);
}

#[test]
fn lone_carriage_returns_in_a_diff_begin_lines() {
    let (body, old, new) = split_returns(b" a\r\n+# note\ros.x()\n-b\n");
    assert_eq!(body, b" a\r\n+# note\n+os.x()\n-b\n");
    assert_eq!((old, new), (0, 1));
}

/// Code that is none until it is decoded: in UTF-7 `+AAo-` is a line end.
const HIDDEN: &str = "x = 1 # +AAo-import os+AAo-os.system('id')\n";

fn is_undecoded(path: &str, text: &[u8]) -> bool {
    matches!(read(path, text.to_vec(), true), Readable::Undecoded(_))
}

#[test]
fn an_encoding_that_the_interpreter_takes_and_we_do_not_know_makes_a_file_unreadable() {
    let encodings = [
        "utf-7",
        "utf7",
        "UTF_7",
        "rot13",
        "rot_13",
        "unicode_escape",
        "raw_unicode_escape",
        "cp037",
        "cp500",
        "punycode",
        "idna",
        "hz",
        "iso2022_kr",
        "no-such-thing",
    ];
    for name in encodings {
        let forms = [
            format!("# -*- coding: {name} -*-\n{HIDDEN}"),
            format!("# vim: set fileencoding={name} :\n{HIDDEN}"),
            format!("#!/usr/bin/python\n# coding={name}\n{HIDDEN}"),
            format!("\n  # coding: {name}\n{HIDDEN}"),
            format!("\u{feff}#coding:{name}\r{HIDDEN}"),
        ];
        for form in forms {
            assert!(is_undecoded("a.py", form.as_bytes()), "{form}");
            assert!(is_undecoded("A.PYW", form.as_bytes()), "{form}");
        }
    }
    assert!(is_undecoded("tool", b"#!/usr/bin/env python3\n# coding: utf-7\nx\n"));
    assert!(is_undecoded("a.rb", b"# Encoding: utf-7\nx\n"));
    for page in [
        "<?xml version=\"1.0\" encoding='utf-7'?>\n<a/>",
        "<html><META http-equiv=a content='text/html; charset=utf-7'>",
    ] {
        assert!(is_undecoded("a.html", page.as_bytes()), "{page}");
    }
    assert!(is_undecoded("a.xml", b"<?xml version=\"1.0\" encoding=\"cp037\"?>\n<a/>"));
    assert!(is_undecoded("a.jsp", b"<%@ page language=\"java\" pageEncoding=\"cp037\" %>\n"));
    assert!(is_undecoded("a.jsp", b"<%@page contentType=\"text/html; charset=IBM1047\"%>\n"));
    assert!(is_undecoded("a.php", b"<?php declare(encoding='UTF-7');\n"));
    assert!(is_undecoded("a.pl", b"use strict;\nuse encoding 'utf7';\n"));
}

#[test]
fn a_name_that_changes_nothing_or_that_nobody_reads_changes_nothing() {
    let same: [(&str, &[u8]); 14] = [
        ("a.py", b"# -*- coding: utf-8 -*-\nx = 1\n"),
        ("a.py", b"# -*- coding: latin-1-unix -*-\nx = 1\n"),
        ("a.py", b"# coding: cp1252\nx = 1\n"),
        ("a.py", b"# coding: mac-roman\nx = 1\n"),
        ("a.py", b"# coding: gbk\nx = 1\n"),
        ("a.py", b"# coding: koi8-r\nx = 1\n"),
        // Neither the third line nor one after code counts.
        ("a.py", b"# a\n# b\n# coding: utf-7\nx = 1\n"),
        ("a.py", b"x = 1\n# coding: utf-7\n"),
        ("a.py", b"# CODING: rot13\nx = 1\n"),
        ("a.md", b"# Encoding: utf-7\n"),
        ("a.yaml", b"# coding: utf-7\na: 1\n"),
        ("a.xml", b"<?xml version=\"1.0\" encoding=\"utf-16\"?>\n<a/>"),
        ("a.html", b"<meta charset=\"nothing-known\"><p>"),
        ("a.html", b"<meta charset=\"utf-8\"><p>"),
    ];
    for (path, text) in same {
        assert_eq!(read(path, text.to_vec(), true), Readable::Plain(text.to_vec()), "{path}");
    }
}

#[test]
fn what_is_named_is_decoded_where_it_can_be() {
    // In GBK the last byte of this letter takes the backslash with it, and the literal ends.
    let text = "# coding: gbk\nx = \"\u{4f60}\\\" + run()  # \"\n";
    let found = text_of("a.py", text.as_bytes(), true);
    assert!(found.as_deref().is_some_and(|found| !found.contains('\\')), "{found:?}");
    // Between these escapes letters of ASCII are halves of others.
    let page = b"<meta charset=iso-2022-jp><p>\x1b$B$3$l\x1b(Bshown</p>".to_vec();
    let found = read("a.html", page, true);
    let Readable::Decoded { text, .. } = found else { panic!("{found:?}") };
    assert!(String::from_utf8_lossy(&text).contains("<p>これshown"));
    let japanese = b"# coding: euc-jp\nx = '\xa4\xb3\xa4\xec'\n";
    assert!(text_of("a.py", japanese, true).is_some_and(|text| text.contains("これ")));
}

#[test]
fn java_s_escapes_are_code_outside_of_literals() {
    let hidden = "class A { // \\u000a Runtime.run();\n}\n";
    let found = text_of("A.java", hidden.as_bytes(), true);
    assert_eq!(found.as_deref(), Some("class A { // \n Runtime.run();\n}\n"));
    let ended = "String a = \"\\u0022+run()+\\u0022\";\n";
    assert_eq!(
        text_of("A.java", ended.as_bytes(), true).as_deref(),
        Some("String a = \"\"+run()+\"\";\n")
    );
    let word = "\\u0052untime.\\uu0072un();\n";
    assert_eq!(text_of("A.java", word.as_bytes(), true).as_deref(), Some("Runtime.run();\n"));
    let literals = "char a = '\\u0041'; String b = \"\\u001b[0m\\\\u0022\"; // \\u00e9 \\u0041\n/* \\u0022 */ String c = \"\"\"\n \\u0041 \"\"\";\n";
    assert_eq!(read("A.java", literals.into(), true), Readable::Plain(literals.into()));
}

#[test]
fn the_words_of_one_language_are_a_string_in_another() {
    let page = "<%@ page pageEncoding=\"UTF-7\" %>";
    assert_eq!(text_of("a.jsp", page.as_bytes(), true), None);
    let source = format!("const PAGE: &str = r#\"{page}\"#;\n");
    assert_eq!(text_of("src/a.rs", source.as_bytes(), true), Some(source.clone()));
    // A file of no known language may be one that a server includes.
    assert_eq!(text_of("a.inc", format!("x\n{page}\n").as_bytes(), true), None);
}
