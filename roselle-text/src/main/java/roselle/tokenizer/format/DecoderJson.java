package roselle.tokenizer.format;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import roselle.tokenizer.decoder.ByteFallbackStage;
import roselle.tokenizer.decoder.ByteLevelDecoder;
import roselle.tokenizer.decoder.ByteLevelStage;
import roselle.tokenizer.decoder.DecoderStage;
import roselle.tokenizer.decoder.Decoders;
import roselle.tokenizer.normalizer.Normalizer;
import roselle.tokenizer.pretokenizer.MetaspacePreTokenizer;

/** Reads the decoder of a tokenizer.json. */
final class DecoderJson {
    private static final String SUPPORTED =
            "BPEDecoder, ByteFallback, ByteLevel, CTC, Fuse, Metaspace, Replace," + " Sequence, Strip, WordPiece";

    private DecoderJson() {}

    static DecoderStage read(JsonComponent json) {
        return switch (json.type()) {
            case "BPEDecoder" -> Decoders.wordEnd(json.phrase("suffix"));
            case "ByteFallback" -> new ByteFallbackStage();
            case "ByteLevel" -> new ByteLevelStage(new ByteLevelDecoder(Set.of()));
            case "CTC" ->
                Decoders.ctc(json.phrase("pad_token"), json.phrase("word_delimiter_token"), json.flag("cleanup"));
            case "Fuse" -> Decoders.fuse();
            case "Metaspace" ->
                Decoders.metaspace(
                        Character.toString(json.character("replacement")),
                        PreTokenizerJson.prepend(json) != MetaspacePreTokenizer.Prepend.NEVER);
            case "Replace" -> replace(json);
            case "Sequence" -> sequence(json);
            case "Strip" -> Decoders.strip(json.character("content"), json.count("start"), json.count("stop"));
            case "WordPiece" -> Decoders.wordPiece(json.phrase("prefix"), json.flag("cleanup"));
            default -> throw json.unsupported("type", SUPPORTED);
        };
    }

    private static DecoderStage sequence(JsonComponent json) {
        List<DecoderStage> stages = new ArrayList<>();
        for (JsonComponent part : json.components("decoders")) {
            stages.add(read(part));
        }
        return Decoders.sequence(stages);
    }

    private static DecoderStage replace(JsonComponent json) {
        Normalizer replace = NormalizerJson.replace(json);
        JsonComponent pattern = json.component("pattern");
        int content = json.string("content").length();
        // An expression may match nothing, before each character too.
        int growth = pattern.has("Regex")
                ? 1 + 2 * content
                : Math.max(1, Math.ceilDiv(content, pattern.string("String").length()));
        return Decoders.replace(token -> replace.normalize(token, Integer.MAX_VALUE), growth);
    }
}
