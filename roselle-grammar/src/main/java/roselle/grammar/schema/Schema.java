package roselle.grammar.schema;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A schema whose formula is made when it is first asked for: schemas refer to themselves. Compared by identity. */
final class Schema {
    private final Supplier<Formula> source;
    private @Nullable Formula formula;

    Schema(Supplier<Formula> source) {
        this.source = source;
    }

    Formula formula() {
        Formula known = formula;
        if (known == null) {
            known = source.get();
            formula = known;
        }
        return known;
    }
}
