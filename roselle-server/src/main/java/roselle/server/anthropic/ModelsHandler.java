package roselle.server.anthropic;

import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.stream.IntStream;
import roselle.server.answer.ListedModel;
import roselle.server.answer.Models;
import roselle.server.http.ApiException;
import roselle.server.http.Exchange;
import roselle.server.http.JsonWriter;

/** {@code /v1/models} as Anthropic's API has it: a page of what there is to ask. */
final class ModelsHandler {
    private static final int MOST = 1000;
    private static final int USUAL = 20;

    /** What clients add to the paths of what Anthropic calls beta, whose answers are the same. */
    private static final String BETA = "beta";

    private final Models models;

    ModelsHandler(Models models) {
        this.models = models;
    }

    void list(Exchange exchange) {
        exchange.acceptQueries(BETA);
        if (exchange.query("before_id").isPresent()) {
            throw ApiException.invalid("before_id", "before_id is not known here: pages go forward, by after_id");
        }
        List<ListedModel> all = models.listed();
        int begin = exchange.query("after_id").map(id -> index(all, id) + 1).orElse(0);
        int limit = exchange.query("limit").map(ModelsHandler::limit).orElse(USUAL);
        List<ListedModel> page = all.subList(begin, Math.min(all.size(), begin + limit));
        var body = new JsonWriter().object().array("data");
        page.forEach(model -> append(body, model));
        body.endArray().field("has_more", begin + page.size() < all.size());
        body.fieldOrNull("first_id", page.isEmpty() ? "" : page.getFirst().name());
        body.fieldOrNull("last_id", page.isEmpty() ? "" : page.getLast().name());
        exchange.sendJson(200, body.endObject());
    }

    private static int index(List<ListedModel> all, String id) {
        return IntStream.range(0, all.size())
                .filter(at -> all.get(at).name().equals(id))
                .findFirst()
                .orElseThrow(() -> ApiException.invalid("after_id", "after_id is no model of this server"));
    }

    private static int limit(String text) {
        boolean isNumber = !text.isEmpty() && text.length() < 5 && text.chars().allMatch(Character::isDigit);
        int limit = isNumber ? Integer.parseInt(text) : 0;
        if (limit < 1 || limit > MOST) {
            throw ApiException.invalid("limit", "limit must be between 1 and " + MOST);
        }
        return limit;
    }

    void one(Exchange exchange) {
        exchange.acceptQueries(BETA);
        var body = new JsonWriter();
        append(body, models.listed(exchange.rest()));
        exchange.sendJson(200, body);
    }

    private static void append(JsonWriter body, ListedModel model) {
        body.object()
                .field("type", "model")
                .field("id", model.name())
                .field("display_name", model.name())
                .field(
                        "created_at",
                        model.created().truncatedTo(ChronoUnit.SECONDS).toString())
                .field("lifecycle", "active");
        if (model.context() > 0) { // else nobody has looked at it yet
            body.field("max_input_tokens", model.context()).field("max_tokens", model.context());
        }
        body.endObject();
    }
}
