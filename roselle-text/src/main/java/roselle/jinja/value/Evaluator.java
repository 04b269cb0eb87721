package roselle.jinja.value;

/** An expression, ready to run. */
public interface Evaluator {
    Object evaluate(Activation activation);
}
