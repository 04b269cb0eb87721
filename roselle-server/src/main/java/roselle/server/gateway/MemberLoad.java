package roselle.server.gateway;

import java.util.List;

/**
 * What a member says of its load.
 *
 * @param waiting requests that have not begun
 * @param running requests that are computed
 * @param kvUsage the part of its memory for keys and values that is in use, 0 to 1
 * @param cacheTokens tokens that this memory holds; 0 where it does not say
 */
record MemberLoad(double waiting, double running, double kvUsage, double cacheTokens) {
    static final MemberLoad NONE = new MemberLoad(0, 0, 0, 0);

    private static final List<String> WAITING =
            List.of("roselle_requests_waiting", "vllm:num_requests_waiting", "sglang:num_queue_reqs");
    private static final List<String> RUNNING =
            List.of("roselle_requests_running", "vllm:num_requests_running", "sglang:num_running_reqs");
    private static final List<String> USAGE =
            List.of("roselle_kv_cache_usage_ratio", "vllm:kv_cache_usage_perc", "sglang:token_usage");
    private static final List<String> CACHE = List.of("roselle_cache_config_info", "vllm:cache_config_info");

    /** Reads what Prometheus would, under the names of any of these servers; of several models the sum, of their memory the fullest. */
    static MemberLoad of(String metrics) {
        double waiting = 0;
        double running = 0;
        double usage = 0;
        double tokens = 0;
        for (String line : metrics.split("\n")) {
            waiting += isOneOf(WAITING, line) ? value(line) : 0;
            running += isOneOf(RUNNING, line) ? value(line) : 0;
            usage = isOneOf(USAGE, line) ? Math.max(usage, value(line)) : usage;
            tokens += isOneOf(CACHE, line) ? label(line, "block_size=\"") * label(line, "num_gpu_blocks=\"") : 0;
        }
        return new MemberLoad(waiting, running, usage, tokens);
    }

    private static boolean isOneOf(List<String> names, String line) {
        for (String name : names) {
            if (line.startsWith(name)
                    && line.length() > name.length()
                    && " {".indexOf(line.charAt(name.length())) >= 0) {
                return true;
            }
        }
        return false;
    }

    private static double value(String line) {
        return number(line.substring(line.lastIndexOf(' ') + 1));
    }

    private static double label(String line, String name) {
        int begin = line.indexOf(name) + name.length();
        int end = line.indexOf('"', begin);
        return begin < name.length() || end < 0 ? 0 : number(line.substring(begin, end));
    }

    private static double number(String text) {
        try {
            double value = Double.parseDouble(text);
            return Double.isFinite(value) && value > 0 ? value : 0;
        } catch (NumberFormatException _) {
            return 0;
        }
    }
}
