package roselle.spark;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.catalyst.FunctionIdentifier;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.ExpressionInfo;
import org.apache.spark.sql.catalyst.expressions.FunctionTableSubqueryArgumentExpression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.util.MapData;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.types.MapType;
import roselle.api.InvalidRequestException;
import scala.Tuple3;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractFunction1;
import scala.runtime.BoxedUnit;

/**
 * SQL's functions {@code roselle_generate} and {@code roselle_embed}, for {@code spark.sql.extensions}.
 *
 * {@snippet lang = "sql" :
 * SELECT id, text FROM roselle_generate(TABLE(prompts), map('model', 'demo', 'maxTokens', '64'))
 * }
 *
 * <p>They are functions of tables, because a function of one value is called for a row only when the row before it has its answer.
 */
public final class RoselleExtensions extends AbstractFunction1<SparkSessionExtensions, BoxedUnit> {
    @Override
    public BoxedUnit apply(SparkSessionExtensions extensions) {
        inject(extensions, "roselle_generate", Roselle::generate);
        inject(extensions, "roselle_embed", Roselle::embed);
        return BoxedUnit.UNIT;
    }

    private static void inject(
            SparkSessionExtensions extensions,
            String name,
            BiFunction<Dataset<?>, Map<String, String>, Dataset<Row>> function) {
        var info = new ExpressionInfo(Roselle.class.getName(), name);
        extensions.injectTableFunction(new Tuple3<>(FunctionIdentifier.apply(name), info, new AbstractFunction1<>() {
            @Override
            public LogicalPlan apply(scala.collection.immutable.Seq<Expression> arguments) {
                return plan(name, CollectionConverters.asJava(arguments), function);
            }
        }));
    }

    private static String usage(String name) {
        return name + "(TABLE(rows), map('option', 'value', ...))";
    }

    private static LogicalPlan plan(
            String name,
            List<Expression> arguments,
            BiFunction<Dataset<?>, Map<String, String>, Dataset<Row>> function) {
        if (arguments.size() != 2
                || !(arguments.getFirst() instanceof FunctionTableSubqueryArgumentExpression table)
                || !(arguments.getLast().dataType() instanceof MapType)
                || !arguments.getLast().foldable()) {
            throw new InvalidRequestException("write " + usage(name));
        }
        Dataset<Row> rows = org.apache.spark.sql.classic.Dataset.ofRows(SparkSession.active(), table.plan());
        return ((org.apache.spark.sql.classic.Dataset<Row>) function.apply(rows, options(arguments.getLast())))
                .queryExecution()
                .analyzed();
    }

    private static Map<String, String> options(Expression map) {
        var data = (MapData) map.eval(InternalRow.empty());
        var keys = data.keyArray();
        var values = data.valueArray();
        var types = (MapType) map.dataType();
        Map<String, String> options = new LinkedHashMap<>();
        for (int i = 0; i < data.numElements(); i++) {
            options.put(String.valueOf(keys.get(i, types.keyType())), String.valueOf(values.get(i, types.valueType())));
        }
        return options;
    }
}
