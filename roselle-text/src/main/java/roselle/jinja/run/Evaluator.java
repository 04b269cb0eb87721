package roselle.jinja.run;

/** An expression, ready to run. */
public interface Evaluator {
    Object evaluate(Activation activation);
}
