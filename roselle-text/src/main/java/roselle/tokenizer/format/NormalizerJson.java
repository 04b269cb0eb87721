package roselle.tokenizer.format;

import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import roselle.tokenizer.normalizer.CharacterMap;
import roselle.tokenizer.normalizer.NormalForm;
import roselle.tokenizer.normalizer.Normalizer;
import roselle.tokenizer.normalizer.Normalizers;
import roselle.tokenizer.normalizer.PatternNormalizer;
import roselle.tokenizer.normalizer.PrecompiledNormalizer;
import roselle.tokenizer.pattern.Pattern;

/** Reads the normalizer of a tokenizer.json. */
final class NormalizerJson {
    private static final String SUPPORTED = "BertNormalizer, ByteLevel, Lowercase, NFC, NFD, NFKC, NFKD, Nmt,"
            + " Precompiled, Prepend, Replace, Sequence, Strip, StripAccents";

    private NormalizerJson() {}

    static Normalizer read(JsonComponent json) {
        return switch (json.type()) {
            case "Bert", "BertNormalizer" -> bert(json);
            case "ByteLevel" -> Normalizers.byteLevel();
            case "Lowercase" -> Normalizers.lowerCase();
            case "NFC" -> NormalForm.NFC;
            case "NFD" -> NormalForm.NFD;
            case "NFKC" -> NormalForm.NFKC;
            case "NFKD" -> NormalForm.NFKD;
            case "Nmt" -> Normalizers.nmt();
            case "Precompiled" -> precompiled(json);
            case "Prepend" -> Normalizers.prepend(json.phrase("prepend"));
            case "Replace" -> replace(json);
            case "Sequence" -> sequence(json);
            case "Strip" -> Normalizers.strip(json.flag("strip_left"), json.flag("strip_right"));
            case "StripAccents" -> Normalizers.stripAccents();
            default -> throw json.unsupported("type", SUPPORTED);
        };
    }

    private static Normalizer bert(JsonComponent json) {
        boolean lowerCase = json.flag("lowercase");
        return Normalizers.bert(
                json.flag("clean_text"),
                json.flag("handle_chinese_chars"),
                json.flag("strip_accents", lowerCase),
                lowerCase);
    }

    private static Normalizer precompiled(JsonComponent json) {
        try {
            byte[] blob = Base64.getDecoder().decode(json.string("precompiled_charsmap"));
            return new PrecompiledNormalizer(CharacterMap.read(blob, json.path()));
        } catch (IllegalArgumentException notBase64) {
            throw json.wrong("holds a precompiled_charsmap that is not base64: " + notBase64.getMessage());
        }
    }

    private static Normalizer sequence(JsonComponent json) {
        List<Normalizer> normalizers = new ArrayList<>();
        for (JsonComponent part : json.components("normalizers")) {
            normalizers.add(read(part));
        }
        return Normalizers.sequence(normalizers);
    }

    /** A replacement of a string or of what a regular expression matches. */
    static Normalizer replace(JsonComponent json) {
        JsonComponent pattern = json.component("pattern");
        String content = json.phrase("content");
        if (pattern.has("Regex")) {
            return new PatternNormalizer(Pattern.compile(pattern.string("Regex")), content);
        }
        String searched = pattern.phrase("String");
        if (searched.isEmpty()) {
            throw json.wrong("replaces the empty string, which stands everywhere: name the text to replace");
        }
        return Normalizers.replace(searched, content);
    }
}
