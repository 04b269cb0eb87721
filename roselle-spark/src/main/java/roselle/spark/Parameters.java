package roselle.spark;

import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.apache.spark.ml.param.Param;

/** Settings as parameters of a stage of Spark's ML, each a text. */
final class Parameters {
    private final EnumMap<Setting, Param<String>> all = new EnumMap<>(Setting.class);

    Parameters(String stage, Set<Setting> settings) {
        settings.forEach(each -> all.put(each, new Param<>(stage, each.key(), each.description())));
    }

    Param<String> of(Setting setting) {
        Param<String> parameter = all.get(setting);
        if (parameter == null) {
            throw new IllegalArgumentException("this stage has no parameter " + setting.key());
        }
        return parameter;
    }

    /** In the order of their names, as Spark has it. */
    Param<?>[] sorted() {
        return all.values().stream().sorted(Comparator.comparing(Param::name)).toArray(Param<?>[]::new);
    }

    /** Those that were set, as options. */
    Map<String, String> options(org.apache.spark.ml.param.Params stage) {
        Map<String, String> options = new HashMap<>();
        all.forEach((setting, parameter) -> {
            if (stage.isSet(parameter)) {
                options.put(setting.key(), stage.getOrDefault(parameter));
            }
        });
        return options;
    }
}
