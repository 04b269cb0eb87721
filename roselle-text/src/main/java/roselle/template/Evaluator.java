package roselle.template;

/** An expression, ready to run. */
interface Evaluator {
    Object evaluate(Activation activation);
}
