package roselle.bench.environment;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What was used while something ran, idle draw included.
 *
 * @param source which meter told
 */
public record Energy(String source, double joules) {
    /** As fields of a result that made so many tokens. */
    public Map<String, Object> fields(long outputTokens) {
        var fields = new LinkedHashMap<String, Object>();
        fields.put("source", source);
        fields.put("joules", Math.round(joules * 100) / 100.0);
        if (outputTokens > 0) {
            fields.put("joules_per_output_token", Math.round(joules / outputTokens * 1e6) / 1e6);
        }
        return fields;
    }
}
