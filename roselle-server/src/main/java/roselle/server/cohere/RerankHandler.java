package roselle.server.cohere;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import roselle.server.answer.Answers;
import roselle.server.answer.Answers.AdmittedRequest;
import roselle.server.config.ServedEncoder;
import roselle.server.encoder.Kinds;
import roselle.server.encoder.RankCall;
import roselle.server.encoder.Ranking;
import roselle.server.http.ApiException;
import roselle.server.http.Exchange;
import roselle.server.http.JsonFields;
import roselle.server.http.JsonWriter;
import tools.jackson.databind.JsonNode;

/** {@code /rerank}: texts in the order in which they fit to a query, best first; with {@code texts} in the form of TEI. */
final class RerankHandler {
    private static final int MOST_TEXTS = 10_000;
    private static final String OTHER_FORM = "it is of another form than texts";
    private static final String READ_WHOLE = "a document is read whole, or truncation cuts it for the model";
    private static final List<String> OF_DOCUMENTS = List.of(
            "documents",
            "top_n",
            "return_documents",
            "truncation",
            "max_tokens_per_doc",
            "max_chunks_per_doc",
            "rank_fields",
            "relevant_spans",
            "priority");
    private static final List<String> OF_TEXTS =
            List.of("raw_scores", "return_text", "truncate", "truncation_direction");

    private final Answers answers;

    RerankHandler(Answers answers) {
        this.answers = answers;
    }

    /** A request, as far as its forms are alike. */
    private record Asked(
            JsonFields fields,
            String query,
            @Nullable String instruction,
            ServedEncoder encoder,
            AdmittedRequest admitted) {
        Ranking ranking(List<String> texts, boolean truncates, boolean isRaw) {
            return new RankCall(query, texts, truncates, isRaw, instruction).ask(admitted, encoder);
        }
    }

    /** Answers; {@code tellsDocuments} says whether the texts come back where the request does not say. */
    void handle(Exchange exchange, boolean tellsDocuments) throws IOException {
        try (var admitted = answers.admit(exchange)) {
            JsonFields fields = exchange.json();
            ServedEncoder encoder = Kinds.ranker(admitted.models(), fields.string("model"));
            var asked = new Asked(
                    fields,
                    fields.requiredString("query"),
                    fields.string("instruction").orElse(null),
                    encoder,
                    admitted);
            boolean isTei = fields.has("texts");
            exchange.sendJson(200, isTei ? ranks(asked) : results(asked, exchange.id(), tellsDocuments));
        }
    }

    private static JsonWriter ranks(Asked asked) {
        JsonFields fields = asked.fields();
        List<String> texts = fields.strings("texts", MOST_TEXTS);
        requireSome("texts", texts);
        boolean isRaw = fields.bool("raw_scores", false);
        boolean tells = fields.bool("return_text", false);
        boolean truncates = fields.bool("truncate", false);
        fields.requireDefault("truncation_direction", "the end is left out: it must be right", "right", "Right");
        OF_DOCUMENTS.forEach(name -> fields.requireDefault(name, OTHER_FORM));
        fields.refuseOthers();
        Ranking ranking = asked.ranking(texts, truncates, isRaw);
        var json = new JsonWriter().array();
        for (int place : ranking.order()) {
            json.object().field("index", place).field("score", ranking.scores().get(place));
            if (tells) {
                json.field("text", texts.get(place));
            }
            json.endObject();
        }
        return json.endArray();
    }

    private static JsonWriter results(Asked asked, String id, boolean tellsDocuments) {
        JsonFields fields = asked.fields();
        List<String> texts = documents(fields);
        int most = fields.integer("top_n", 1, Integer.MAX_VALUE).orElse(texts.size());
        boolean tells = fields.bool("return_documents", tellsDocuments);
        boolean truncates = fields.bool("truncation", false);
        fields.requireDefault("max_tokens_per_doc", READ_WHOLE);
        fields.requireDefault("max_chunks_per_doc", READ_WHOLE);
        fields.requireDefault("priority", "an encoder's texts take turns, so it must be 0", 0L);
        fields.requireDefault("rank_fields", "documents have text alone");
        fields.requireDefault("relevant_spans", "no model here finds them");
        OF_TEXTS.forEach(name -> fields.requireDefault(name, "it belongs to texts, and there are documents"));
        fields.refuseOthers();
        Ranking ranking = asked.ranking(texts, truncates, false);
        var json = new JsonWriter()
                .object()
                .field("id", "rerank-" + id)
                .field("model", asked.encoder().name())
                .array("results");
        for (int place : ranking.order().subList(0, Math.min(most, texts.size()))) {
            json.object()
                    .field("index", place)
                    .field("relevance_score", ranking.scores().get(place));
            if (tells) {
                json.object("document").field("text", texts.get(place)).endObject();
            }
            json.endObject();
        }
        return json.endArray()
                .object("usage")
                .field("prompt_tokens", ranking.tokens())
                .field("total_tokens", ranking.tokens())
                .endObject()
                .endObject();
    }

    /** Texts, each alone or as the {@code text} of an object. */
    private static List<String> documents(JsonFields fields) {
        JsonNode given = fields.any("documents").orElseThrow(() -> fields.missing("documents"));
        if (!given.isArray()) {
            throw JsonFields.wrongType("documents", given, "an array of texts");
        }
        if (given.size() > MOST_TEXTS) {
            throw ApiException.invalid(
                    "documents", "documents has " + given.size() + " entries: at most " + MOST_TEXTS);
        }
        var texts = new ArrayList<String>();
        for (JsonNode each : given.values()) {
            JsonNode text = each.isObject() && each.size() == 1 ? each.path("text") : each;
            if (!text.isString()) {
                throw JsonFields.wrongType(
                        "documents[" + texts.size() + "]", each, "a text, or an object with a text and nothing else");
            }
            texts.add(text.stringValue());
        }
        requireSome("documents", texts);
        return texts;
    }

    private static void requireSome(String name, List<String> texts) {
        if (texts.isEmpty()) {
            throw ApiException.invalid(name, name + " is an empty array: it must have at least one text");
        }
    }
}
