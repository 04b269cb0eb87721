package roselle.bench.report;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.DoubleStream;
import roselle.bench.metric.Distribution;

/** Metrics as fields of a result. */
final class Fields {
    /** Points of a stored curve, less one: enough for a picture, and small. */
    static final int CURVE_STEPS = 200;

    private Fields() {}

    /** A distribution with its count; percentiles that the count does not support are named. */
    static Map<String, Object> of(Distribution values) {
        var fields = summary(values);
        if (!values.isEmpty()) {
            fields.put(
                    "curve",
                    DoubleStream.of(values.curve(CURVE_STEPS))
                            .map(Fields::rounded)
                            .toArray());
        }
        return fields;
    }

    /** The same without the curve. */
    static Map<String, Object> summary(Distribution values) {
        var fields = new LinkedHashMap<String, Object>();
        fields.put("count", values.count());
        if (!values.isEmpty()) {
            fields.put("mean", rounded(values.mean()));
            fields.put("min", rounded(values.min()));
            fields.put("p50", rounded(values.p50()));
            fields.put("p90", rounded(values.p90()));
            fields.put("p99", rounded(values.p99()));
            fields.put("max", rounded(values.max()));
            fields.put("p99_is_supported", values.supports(0.99));
        }
        return fields;
    }

    /** Six significant digits are more than any clock here has. */
    static double rounded(double value) {
        if (value == 0 || !Double.isFinite(value)) {
            return 0;
        }
        double unit = Math.pow(10, 6 - Math.ceil(Math.log10(Math.abs(value))));
        return Math.round(value * unit) / unit;
    }
}
