package roselle.server.anthropic;

import roselle.server.http.ApiException;
import roselle.server.http.JsonFields;

/**
 * Reads {@code cache_control}, which every beginning of a prompt behaves as if it had: what was computed stays in the prefix
 * cache for as long as there is room, and the usage tells what was found there.
 */
final class CacheMarks {
    private CacheMarks() {}

    static void accept(JsonFields fields) {
        fields.object("cache_control").ifPresent(mark -> {
            String type = mark.requiredString("type");
            if (!type.equals("ephemeral")) {
                throw ApiException.invalid(
                        mark.path("type"), mark.path("type") + " is " + type + ": it must be ephemeral");
            }
            mark.string("ttl")
                    .filter(ttl -> !ttl.equals("5m") && !ttl.equals("1h"))
                    .ifPresent(ttl -> {
                        throw ApiException.invalid(
                                mark.path("ttl"), mark.path("ttl") + " is " + ttl + ": it must be 5m or 1h");
                    });
            mark.refuseOthers();
        });
    }
}
