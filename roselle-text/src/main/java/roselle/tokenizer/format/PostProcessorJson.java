package roselle.tokenizer.format;

import java.util.ArrayList;
import java.util.List;
import roselle.tokenizer.decoder.PostProcessor;
import roselle.tokenizer.decoder.PostProcessors;

/** Reads the post-processor of a tokenizer.json. */
final class PostProcessorJson {
    private static final String SUPPORTED =
            "BertProcessing, ByteLevel, RobertaProcessing, Sequence, TemplateProcessing";

    private PostProcessorJson() {}

    static PostProcessor read(JsonComponent json) {
        return switch (json.type()) {
            case "BertProcessing", "RobertaProcessing" ->
                PostProcessors.around(new int[] {json.idOfPair("cls")}, new int[] {json.idOfPair("sep")});
            case "ByteLevel" -> PostProcessor.NONE; // trims offsets only
            case "Sequence" -> sequence(json);
            case "TemplateProcessing" -> template(json);
            default -> throw json.unsupported("type", SUPPORTED);
        };
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
        return PostProcessors.template(pieces);
    }

    private static PostProcessors.Piece special(JsonComponent json, String name) {
        JsonComponent tokens = json.component("special_tokens");
        return new PostProcessors.Piece(false, tokens.component(name).counts("ids"));
    }
}
