package roselle.server.batch;

import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.Function;
import roselle.server.http.ApiException;
import roselle.server.http.ErrorKind;
import roselle.server.http.Exchange;
import roselle.server.http.JsonWriter;

/** Lists in parts, as OpenAI's clients go through them: the latest first, {@code limit} of them behind {@code after}. */
final class Pages {
    private static final int USUAL = 20;

    private Pages() {}

    /** Sends the part that the query asks for of a list whose oldest is first. */
    static <T> void send(
            Exchange exchange, List<T> all, int most, Function<T, String> id, BiConsumer<T, JsonWriter> tell) {
        List<T> ordered = isAscending(exchange) ? all : all.reversed();
        int begin = 0;
        Optional<String> after = exchange.query("after").filter(text -> !text.isEmpty());
        if (after.isPresent()) {
            List<String> ids = ordered.stream().map(id).toList();
            begin = ids.indexOf(after.get()) + 1;
            if (begin == 0) {
                throw ApiException.invalid("after", "after is no id of this list");
            }
        }
        int end = Math.min(ordered.size(), begin + limit(exchange, most));
        List<T> part = ordered.subList(begin, end);
        var json = new JsonWriter().object().field("object", "list").array("data");
        part.forEach(each -> tell.accept(each, json));
        json.endArray()
                .fieldOrNull("first_id", part.isEmpty() ? "" : id.apply(part.getFirst()))
                .fieldOrNull("last_id", part.isEmpty() ? "" : id.apply(part.getLast()))
                .field("has_more", end < ordered.size());
        exchange.sendJson(200, json.endObject());
    }

    private static boolean isAscending(Exchange exchange) {
        String order = exchange.query("order").orElse("desc");
        if (!order.equals("asc") && !order.equals("desc")) {
            throw ApiException.invalid("order", "order must be asc or desc");
        }
        return order.equals("asc");
    }

    private static int limit(Exchange exchange, int most) {
        String text = exchange.query("limit").orElse(Integer.toString(Math.min(USUAL, most)));
        int limit = text.length() < 7 && !text.isEmpty() && text.chars().allMatch(digit -> digit >= '0' && digit <= '9')
                ? Integer.parseInt(text)
                : 0;
        if (limit < 1 || limit > most) {
            throw new ApiException(ErrorKind.OUT_OF_RANGE, "limit", "limit must be between 1 and " + most);
        }
        return limit;
    }
}
