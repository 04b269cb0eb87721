package roselle.server.responses;

import java.nio.charset.StandardCharsets;
import java.util.List;
import roselle.server.http.ApiException;
import roselle.server.http.Exchange;
import roselle.server.http.JsonWriter;

/** A page of the items that a response was asked with; the last item comes first unless the {@code order} is {@code asc}. */
record ItemsPage(List<KeptItem> items, boolean hasMore) {
    private static final int LONGEST = 100;
    private static final String USUAL = "20";

    /** The page that a query asks for. */
    static ItemsPage of(List<KeptItem> kept, Exchange exchange) {
        if (exchange.query("include").isPresent()) {
            throw ApiException.invalid("include", "include has no effect on items that are kept: leave it out");
        }
        List<KeptItem> ordered = order(exchange).equals("asc") ? kept : kept.reversed();
        int begin = exchange.query("after").map(id -> behind(id, ordered)).orElse(0);
        int end = Math.min(ordered.size(), begin + limit(exchange));
        return new ItemsPage(ordered.subList(begin, end), end < ordered.size());
    }

    private static String order(Exchange exchange) {
        String order = exchange.query("order").orElse("desc");
        if (!order.equals("asc") && !order.equals("desc")) {
            throw ApiException.invalid("order", "order is not known: it must be asc or desc");
        }
        return order;
    }

    private static int behind(String id, List<KeptItem> items) {
        for (int index = 0; index < items.size(); index++) {
            if (items.get(index).id().equals(id)) {
                return index + 1;
            }
        }
        throw ApiException.invalid("after", "after is no item of the response: it must be the id of one");
    }

    private static int limit(Exchange exchange) {
        String given = exchange.query("limit").orElse(USUAL);
        boolean isShortNumber = !given.isEmpty()
                && given.length() <= 3
                && given.chars().allMatch(digit -> digit >= '0' && digit <= '9');
        int limit = isShortNumber ? Integer.parseInt(given) : 0;
        if (limit < 1 || limit > LONGEST) {
            throw ApiException.invalid("limit", "limit must be a number from 1 to " + LONGEST);
        }
        return limit;
    }

    JsonWriter write(JsonWriter json) {
        json.object().field("object", "list").array("data");
        items.forEach(item -> json.json(item.json().getBytes(StandardCharsets.UTF_8)));
        json.endArray();
        json.fieldOrNull("first_id", items.isEmpty() ? "" : items.getFirst().id());
        json.fieldOrNull("last_id", items.isEmpty() ? "" : items.getLast().id());
        return json.field("has_more", hasMore).endObject();
    }
}
