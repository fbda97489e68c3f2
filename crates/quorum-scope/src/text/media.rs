//! Images, fonts, sound and video: files that no program runs.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

/// What a form of media begins with: bytes at an offset, all of which must be there.
struct Magic {
    what: &'static str,
    endings: &'static [&'static str],
    begins: &'static [(usize, &'static [u8])],
}

const IMAGE: &str = "an image";
const FONT: &str = "a font";
const SOUND: &str = "a sound";
const VIDEO: &str = "a video";

const fn magic(
    what: &'static str,
    endings: &'static [&'static str],
    begins: &'static [(usize, &'static [u8])],
) -> Magic {
    Magic { what, endings, begins }
}

const KNOWN: &[Magic] = &[
    magic(IMAGE, &["png", "apng"], &[(0, b"\x89PNG\r\n\x1a\n")]),
    magic(IMAGE, &["jpg", "jpeg", "jpe", "jfif"], &[(0, b"\xff\xd8\xff")]),
    magic(IMAGE, &["gif"], &[(0, b"GIF87a")]),
    magic(IMAGE, &["gif"], &[(0, b"GIF89a")]),
    magic(IMAGE, &["webp"], &[(0, b"RIFF"), (8, b"WEBP")]),
    magic(IMAGE, &["avif", "avifs"], &[(4, b"ftypavi")]),
    magic(IMAGE, &["heic", "heif"], &[(4, b"ftyp")]),
    magic(IMAGE, &["bmp", "dib"], &[(0, b"BM")]),
    magic(IMAGE, &["ico"], &[(0, b"\0\0\x01\0")]),
    magic(IMAGE, &["cur"], &[(0, b"\0\0\x02\0")]),
    magic(IMAGE, &["icns"], &[(0, b"icns")]),
    magic(IMAGE, &["tif", "tiff"], &[(0, b"II*\0")]),
    magic(IMAGE, &["tif", "tiff"], &[(0, b"MM\0*")]),
    magic(IMAGE, &["psd"], &[(0, b"8BPS")]),
    magic(IMAGE, &["jxl"], &[(0, b"\xff\x0a")]),
    magic(IMAGE, &["jxl"], &[(0, b"\0\0\0\x0cJXL ")]),
    magic(IMAGE, &["jp2", "j2k"], &[(0, b"\0\0\0\x0cjP  ")]),
    magic(IMAGE, &["qoi"], &[(0, b"qoif")]),
    magic(IMAGE, &["dds"], &[(0, b"DDS ")]),
    magic(IMAGE, &["exr"], &[(0, b"\x76\x2f\x31\x01")]),
    magic(IMAGE, &["ktx", "ktx2"], &[(0, b"\xabKTX ")]),
    magic(FONT, &["ttf"], &[(0, b"\0\x01\0\0")]),
    magic(FONT, &["ttf"], &[(0, b"true")]),
    magic(FONT, &["ttc", "otc"], &[(0, b"ttcf")]),
    magic(FONT, &["otf"], &[(0, b"OTTO")]),
    magic(FONT, &["woff"], &[(0, b"wOFF")]),
    magic(FONT, &["woff2"], &[(0, b"wOF2")]),
    magic(FONT, &["eot"], &[(34, b"LP")]),
    magic(FONT, &["pfb"], &[(0, b"\x80\x01")]),
    magic(SOUND, &["mp3"], &[(0, b"ID3")]),
    magic(SOUND, &["mp3"], &[(0, b"\xff\xfb")]),
    magic(SOUND, &["mp3"], &[(0, b"\xff\xf3")]),
    magic(SOUND, &["mp3"], &[(0, b"\xff\xf2")]),
    magic(SOUND, &["wav"], &[(0, b"RIFF"), (8, b"WAVE")]),
    magic(SOUND, &["ogg", "oga", "opus", "spx"], &[(0, b"OggS")]),
    magic(SOUND, &["flac"], &[(0, b"fLaC")]),
    magic(SOUND, &["aac"], &[(0, b"\xff\xf1")]),
    magic(SOUND, &["aac"], &[(0, b"\xff\xf9")]),
    magic(SOUND, &["m4a"], &[(4, b"ftyp")]),
    magic(SOUND, &["mid", "midi"], &[(0, b"MThd")]),
    magic(SOUND, &["aif", "aiff"], &[(0, b"FORM"), (8, b"AIF")]),
    magic(VIDEO, &["mp4", "m4v", "mov", "3gp"], &[(4, b"ftyp")]),
    magic(VIDEO, &["webm", "mkv"], &[(0, b"\x1a\x45\xdf\xa3")]),
    magic(VIDEO, &["avi"], &[(0, b"RIFF"), (8, b"AVI ")]),
    magic(VIDEO, &["ogv"], &[(0, b"OggS")]),
    magic(VIDEO, &["wmv", "wma", "asf"], &[(0, b"\x30\x26\xb2\x75")]),
    magic(VIDEO, &["flv"], &[(0, b"FLV\x01")]),
    magic(VIDEO, &["mpg", "mpeg"], &[(0, b"\0\0\x01\xba")]),
    magic(VIDEO, &["mpg", "mpeg"], &[(0, b"\0\0\x01\xb3")]),
];

/// What opens code inside of any other bytes, for programs that look for it there.
static CODE: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build([
            "<?php",
            "<script",
            "<%@page",
            "<%@ page",
            "<%eval",
            "<%execute",
            "<jsp:",
            "<cfexecute",
        ])
        .ok()
});

/// What media `bytes` are, where they begin as the ending of `path` says and carry no code.
pub(super) fn recognise(path: &str, bytes: &[u8]) -> Option<&'static str> {
    let ending = path.rsplit('/').next()?.rsplit_once('.')?.1.to_ascii_lowercase();
    let has =
        |(at, magic): &(usize, &[u8])| bytes.get(*at..).is_some_and(|rest| rest.starts_with(magic));
    let known = KNOWN
        .iter()
        .find(|known| known.endings.contains(&ending.as_str()) && known.begins.iter().all(has))?;
    (!carries_code(bytes)).then_some(known.what)
}

/// Whether a program could find code in what is an image to others.
fn carries_code(bytes: &[u8]) -> bool {
    // A comment that opens within the header makes a script of it.
    let header = &bytes[..bytes.len().min(16)];
    header.windows(2).any(|pair| pair == b"/*")
        || CODE.as_ref().is_none_or(|code| code.is_match(bytes))
}
