package roselle.server.metrics;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import roselle.server.config.MetricOptions;

/**
 * The names that other servers have for series, so that dashboards which were made for them show this one: a text in Prometheus's
 * format with each family of series under the names that were asked for.
 */
final class SeriesNames {
    /** A family, and the names for it; a name says by its prefix whose it is. */
    private static final Map<String, List<String>> OTHERS = Map.ofEntries(
            Map.entry(
                    "roselle_time_to_first_token_seconds",
                    List.of("vllm:time_to_first_token_seconds", "sglang:time_to_first_token_seconds")),
            Map.entry(
                    "roselle_inter_token_latency_seconds",
                    List.of("vllm:inter_token_latency_seconds", "sglang:inter_token_latency_seconds")),
            Map.entry(
                    "roselle_request_duration_seconds",
                    List.of("vllm:e2e_request_latency_seconds", "sglang:e2e_request_latency_seconds")),
            Map.entry(
                    "roselle_request_queue_seconds",
                    List.of("vllm:request_queue_time_seconds", "sglang:queue_time_seconds")),
            Map.entry("roselle_request_prefill_seconds", List.of("vllm:request_prefill_time_seconds")),
            Map.entry("roselle_request_decode_seconds", List.of("vllm:request_decode_time_seconds")),
            Map.entry("roselle_request_prompt_tokens", List.of("vllm:request_prompt_tokens")),
            Map.entry("roselle_request_generated_tokens", List.of("vllm:request_generation_tokens")),
            Map.entry("roselle_request_longest_answer_tokens", List.of("vllm:request_max_num_generation_tokens")),
            Map.entry("roselle_requests_total", List.of("vllm:request_success_total")),
            Map.entry("roselle_requests_running", List.of("vllm:num_requests_running", "sglang:num_running_reqs")),
            Map.entry("roselle_requests_waiting", List.of("vllm:num_requests_waiting", "sglang:num_queue_reqs")),
            Map.entry("roselle_kv_cache_usage_ratio", List.of("vllm:kv_cache_usage_perc", "sglang:token_usage")),
            Map.entry(
                    "roselle_prompt_tokens_total",
                    List.of(
                            "vllm:prompt_tokens_total",
                            "vllm:prefix_cache_queries_total",
                            "sglang:prompt_tokens_total")),
            Map.entry("roselle_prefix_hit_tokens_total", List.of("vllm:prefix_cache_hits_total")),
            Map.entry("roselle_prefix_hit_ratio", List.of("sglang:cache_hit_rate")),
            Map.entry(
                    "roselle_generated_tokens_total",
                    List.of("vllm:generation_tokens_total", "sglang:generation_tokens_total")),
            Map.entry("roselle_generated_tokens_per_second", List.of("sglang:gen_throughput")),
            Map.entry("roselle_preemptions_total", List.of("vllm:num_preemptions_total")),
            Map.entry("roselle_cache_config_info", List.of("vllm:cache_config_info")),
            Map.entry("roselle_lora_requests_info", List.of("vllm:lora_requests_info")));

    private static final String TYPE = "# TYPE ";
    private static final String HELP = "# HELP ";

    /** Beginnings of lines that are remembered: more than a server of a few models has. */
    private static final int MOST_HEADS = 10_000;

    private final List<String> wanted;
    /** By a name of others, what a line begins with, and the same under that name: they stay, their values change. */
    private final Map<String, Map<String, String>> heads = new HashMap<>();

    SeriesNames(MetricOptions options) {
        wanted = options.names();
    }

    /** The text with the names that were asked for; one thread at a time. */
    String in(String text) {
        if (wanted.equals(MetricOptions.DEFAULT.names())) {
            return text;
        }
        var out = new StringBuilder(text.length());
        var family = new ArrayList<String>();
        for (String line : text.split("\n")) {
            if (line.startsWith(HELP) || (line.startsWith(TYPE) && !isOf(family, line))) {
                write(family, out);
                family.clear();
            }
            family.add(line);
        }
        write(family, out);
        return out.toString();
    }

    private static boolean isOf(List<String> family, String type) {
        return !family.isEmpty() && name(family).equals(word(type, TYPE.length()));
    }

    private static String name(List<String> family) {
        return family.getFirst().startsWith("# ") ? word(family.getFirst(), HELP.length()) : "";
    }

    private static String word(String line, int begin) {
        int end = line.indexOf(' ', begin);
        return line.substring(begin, end < 0 ? line.length() : end);
    }

    private void write(List<String> family, StringBuilder out) {
        if (family.isEmpty()) {
            return;
        }
        String own = name(family);
        List<String> names = OTHERS.getOrDefault(own, List.of()).stream()
                .filter(name -> wanted.contains(name.substring(0, name.indexOf(':'))))
                .toList();
        if (names.isEmpty() || wanted.contains(MetricOptions.OWN)) {
            family.forEach(line -> out.append(line).append('\n'));
        }
        for (String name : names) {
            Map<String, String> known = heads.computeIfAbsent(name, _ -> new HashMap<>());
            if (known.size() > MOST_HEADS) {
                known.clear();
            }
            for (String line : family) {
                int value = line.startsWith("# ") ? line.length() : line.lastIndexOf(' ');
                out.append(known.computeIfAbsent(line.substring(0, value), head -> renamed(head, own, name)));
                out.append(line, value, line.length()).append('\n');
            }
        }
    }

    /** Labels are renamed by their quotation mark, which values have only behind a backslash. */
    private static String renamed(String line, String own, String name) {
        if (line.startsWith("# ")) {
            return line.substring(0, HELP.length()) + name + line.substring(HELP.length() + own.length());
        }
        String labelled = line.replace("{model=\"", "{model_name=\"").replace(",model=\"", ",model_name=\"");
        if (own.equals("roselle_requests_total")) {
            labelled = labelled.replace(",outcome=\"cancelled\"", ",finished_reason=\"abort\"")
                    .replace(",outcome=\"failed\"", ",finished_reason=\"error\"")
                    .replace(",outcome=\"", ",finished_reason=\"");
        }
        return name + labelled.substring(own.length());
    }
}
