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
 * {@link Roselle#embed} as a stage of pipelines; its parameters are the options under their names, all of them texts.
 *
 * {@snippet :
 * var stage = new RoselleEmbedder().option("model", "demo");
 * }
 */
public final class RoselleEmbedder extends Transformer implements DefaultParamsWritable {
    @Serial
    private static final long serialVersionUID = 1L;

    private final String uid;
    private transient @Nullable Parameters parameters;

    /** A stage without a model. */
    public RoselleEmbedder() {
        this(Identifiable$.MODULE$.randomUID("roselle_embed"));
    }

    /** A stage of a name, as Spark reads it. */
    public RoselleEmbedder(String uid) {
        this.uid = uid;
    }

    @Override
    public String uid() {
        return uid;
    }

    /** Made when first asked for, which the constructor of Spark's class may do. */
    private Parameters parameters() {
        if (parameters == null) {
            parameters = new Parameters(uid, Setting.ofEmbedding());
        }
        return parameters;
    }

    @Override
    public Param<?>[] params() {
        return parameters().sorted();
    }

    /** Sets an option by its name. */
    public RoselleEmbedder option(String name, Object value) {
        set(parameters().of(Setting.named(name)), String.valueOf(value));
        return this;
    }

    /** Sets options by their names. */
    public RoselleEmbedder options(Map<String, String> values) {
        values.forEach(this::option);
        return this;
    }

    @Override
    public Dataset<Row> transform(Dataset<?> rows) {
        return Roselle.embed(rows, parameters().options(this));
    }

    @Override
    public StructType transformSchema(StructType schema) {
        return Roselle.embeddedSchema(schema, Settings.of(parameters().options(this), Setting.ofEmbedding()));
    }

    @Override
    public RoselleEmbedder copy(ParamMap extra) {
        return defaultCopy(extra);
    }

    /** Reads what was saved. */
    public static MLReader<RoselleEmbedder> read() {
        return new DefaultParamsReader<>();
    }

    /** Reads what was saved in a folder. */
    public static RoselleEmbedder load(String path) {
        return read().load(path);
    }
}
