package roselle.server.openai;

import roselle.server.http.ApiException;
import roselle.server.http.JsonFields;

/** The field {@code stream_options}. */
final class StreamOptions {
    private StreamOptions() {}

    static boolean reportsUsage(JsonFields fields, boolean streams) {
        var options = fields.object("stream_options");
        if (options.isEmpty()) {
            return false;
        }
        if (!streams) {
            throw ApiException.invalid("stream_options", "stream_options is only for requests with stream: true");
        }
        boolean usage = options.get().bool("include_usage", false);
        options.get().requireDefault("include_obfuscation", "this server adds none, so it must be false", false);
        options.get().refuseOthers();
        return usage;
    }
}
