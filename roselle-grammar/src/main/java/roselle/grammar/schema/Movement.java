package roselle.grammar.schema;

import java.util.Map;

/** Goals behind a key or before an item, what they depend on, and the shape that they become once that is decided. */
@SuppressWarnings("ArrayRecordComponent") // never compared
record Movement(Formula[] goals, Map<Formula, Dependence> dependences, Next next) {
    /** How a condition changes with the next part, by whether that part is valid. */
    record Dependence(Formula part, Formula whenValid, Formula whenNot) {}

    /** What goals that are decided become. */
    interface Next {
        Shape of(Formula[] goals);
    }

    /** A condition as it is behind a part; one that depends on the part stays, and is noted. */
    static Formula dependent(
            Formula condition, Formula part, Formula whenValid, Formula whenNot, Map<Formula, Dependence> dependences) {
        if (part.isTrue()) {
            return whenValid;
        }
        if (part.isFalse()) {
            return whenNot;
        }
        dependences.put(condition, new Dependence(part, whenValid, whenNot));
        return condition;
    }
}
