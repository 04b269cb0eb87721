package roselle.tokenizer.format;

import java.util.ArrayList;
import java.util.List;
import roselle.tokenizer.decoder.PostProcessor;
import roselle.tokenizer.decoder.PostProcessors;

/** Reads the post-processor of a tokenizer.json. */
final class PostProcessorJson {
    private static final String SUPPORTED =
            "BertProcessing, ByteLevel, RobertaProcessing, Sequence, TemplateProcessing";

    private static final int[] NONE = {};

    private PostProcessorJson() {}

    static PostProcessor read(JsonComponent json) {
        return switch (json.type()) {
            case "BertProcessing" -> around(json, 1, 1);
            case "RobertaProcessing" -> around(json, 2, 0);
            case "ByteLevel" -> PostProcessor.NONE; // trims offsets only
            case "Sequence" -> sequence(json);
            case "TemplateProcessing" -> template(json);
            default -> throw json.unsupported("type", SUPPORTED);
        };
    }

    /** {@code cls A sep}, and {@code cls A sep B sep} with so many between the texts. */
    private static PostProcessor around(JsonComponent json, int separators, int secondType) {
        int[] begin = {json.idOfPair("cls")};
        int[] end = {json.idOfPair("sep")};
        var pieces = new ArrayList<PostProcessors.PairPiece>();
        pieces.add(new PostProcessors.PairPiece(-1, begin, 0));
        pieces.add(new PostProcessors.PairPiece(0, NONE, 0));
        for (int i = 0; i < separators; i++) {
            pieces.add(new PostProcessors.PairPiece(-1, end, 0));
        }
        pieces.add(new PostProcessors.PairPiece(1, NONE, secondType));
        pieces.add(new PostProcessors.PairPiece(-1, end, secondType));
        return PostProcessors.withPairs(PostProcessors.around(begin, end), pieces);
    }

    private static PostProcessor sequence(JsonComponent json) {
        List<PostProcessor> processors = new ArrayList<>();
        for (JsonComponent part : json.components("processors")) {
            processors.add(read(part));
        }
        return PostProcessors.sequence(processors);
    }

    private static PostProcessor template(JsonComponent json) {
        List<PostProcessors.Piece> pieces = new ArrayList<>();
        for (JsonComponent piece : json.components("single")) {
            if (piece.has("SpecialToken")) {
                pieces.add(special(json, piece.component("SpecialToken").string("id")));
            } else if (piece.component("Sequence").string("id").equals("A")) {
                pieces.add(PostProcessors.Piece.TEXT);
            } else {
                throw json.wrong("names a second text in its template for single texts");
            }
        }
        if (!pieces.contains(PostProcessors.Piece.TEXT)) {
            throw json.wrong("has no place for the text in its template");
        }
        PostProcessor single = PostProcessors.template(pieces);
        return json.has("pair") ? PostProcessors.withPairs(single, pairPieces(json)) : single;
    }

    private static List<PostProcessors.PairPiece> pairPieces(JsonComponent json) {
        var pieces = new ArrayList<PostProcessors.PairPiece>();
        for (JsonComponent piece : json.components("pair")) {
            boolean isSpecial = piece.has("SpecialToken");
            JsonComponent part = piece.component(isSpecial ? "SpecialToken" : "Sequence");
            int[] ids = isSpecial ? special(json, part.string("id")).ids() : NONE;
            int text = isSpecial ? -1 : part.string("id").equals("A") ? 0 : 1;
            pieces.add(new PostProcessors.PairPiece(text, ids, part.count("type_id")));
        }
        return pieces;
    }

    private static PostProcessors.Piece special(JsonComponent json, String name) {
        JsonComponent tokens = json.component("special_tokens");
        return new PostProcessors.Piece(false, tokens.component(name).counts("ids"));
    }
}
