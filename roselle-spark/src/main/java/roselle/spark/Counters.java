package roselle.spark;

import java.io.Serial;
import java.io.Serializable;
import org.apache.spark.SparkContext;
import org.apache.spark.util.LongAccumulator;
import roselle.offline.Answer;

/** What a query has done, on the page of its stage in Spark's UI; only its task's thread counts. */
final class Counters implements Serializable {
    @Serial
    private static final long serialVersionUID = 1L;

    private final LongAccumulator rows;
    private final LongAccumulator failed;
    private final LongAccumulator kept;
    private final LongAccumulator promptTokens;
    private final LongAccumulator generatedTokens;

    Counters(SparkContext context) {
        rows = context.longAccumulator("roselle: rows");
        failed = context.longAccumulator("roselle: rows with errors");
        kept = context.longAccumulator("roselle: rows from the checkpoint");
        promptTokens = context.longAccumulator("roselle: prompt tokens");
        generatedTokens = context.longAccumulator("roselle: generated tokens");
    }

    void count(Answer answer, boolean wasKept) {
        rows.add(1);
        kept.add(wasKept ? 1 : 0);
        switch (answer) {
            case Answer.Generated generated -> {
                promptTokens.add(generated.usage().promptTokens());
                generatedTokens.add(generated.usage().completionTokens());
            }
            case Answer.Failed _ -> failed.add(1);
        }
    }

    void countEmbedded(int tokens, boolean hasFailed) {
        rows.add(1);
        failed.add(hasFailed ? 1 : 0);
        promptTokens.add(tokens);
    }
}
