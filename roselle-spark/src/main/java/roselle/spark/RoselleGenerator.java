package roselle.spark;

import java.io.Serial;
import java.util.Map;
import org.apache.spark.ml.Transformer;
import org.apache.spark.ml.param.Param;
import org.apache.spark.ml.param.ParamMap;
import org.apache.spark.ml.util.DefaultParamsReader;
import org.apache.spark.ml.util.DefaultParamsWritable;
import org.apache.spark.ml.util.Identifiable$;
import org.apache.spark.ml.util.MLReader;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.StructType;
import org.jspecify.annotations.Nullable;

/**
 * {@link Roselle#generate} as a stage of pipelines; its parameters are the options under their names, all of them texts.
 *
 * {@snippet :
 * var stage = new RoselleGenerator().option("model", "demo");
 * }
 */
public final class RoselleGenerator extends Transformer implements DefaultParamsWritable {
    @Serial
    private static final long serialVersionUID = 1L;

    private final String uid;
    private transient @Nullable Parameters parameters;

    /** A stage without a model. */
    public RoselleGenerator() {
        this(Identifiable$.MODULE$.randomUID("roselle_generate"));
    }

    /** A stage of a name, as Spark reads it. */
    public RoselleGenerator(String uid) {
        this.uid = uid;
    }

    @Override
    public String uid() {
        return uid;
    }

    /** Made when first asked for, which the constructor of Spark's class may do. */
    private Parameters parameters() {
        if (parameters == null) {
            parameters = new Parameters(uid, Setting.ofGeneration());
        }
        return parameters;
    }

    @Override
    public Param<?>[] params() {
        return parameters().sorted();
    }

    /** Sets an option by its name. */
    public RoselleGenerator option(String name, Object value) {
        set(parameters().of(Setting.named(name)), String.valueOf(value));
        return this;
    }

    /** Sets options by their names. */
    public RoselleGenerator options(Map<String, String> values) {
        values.forEach(this::option);
        return this;
    }

    @Override
    public Dataset<Row> transform(Dataset<?> rows) {
        return Roselle.generate(rows, parameters().options(this));
    }

    @Override
    public StructType transformSchema(StructType schema) {
        return Roselle.generatedSchema(schema, Settings.of(parameters().options(this), Setting.ofGeneration()));
    }

    @Override
    public RoselleGenerator copy(ParamMap extra) {
        return defaultCopy(extra);
    }

    /** Reads what was saved. */
    public static MLReader<RoselleGenerator> read() {
        return new DefaultParamsReader<>();
    }

    /** Reads what was saved in a folder. */
    public static RoselleGenerator load(String path) {
        return read().load(path);
    }
}
