package roselle.jinja.run;

/** A statement, ready to run. */
public interface Action {
    /** How a statement ended: whether the loop around it goes on. */
    enum Completion {
        NORMAL,
        BREAK,
        CONTINUE
    }

    Completion execute(Activation activation);

    /** Several one after the other. */
    static Action sequence(Action... actions) {
        if (actions.length == 1) {
            return actions[0];
        }
        return activation -> {
            for (var action : actions) {
                var completion = action.execute(activation);
                if (completion != Completion.NORMAL) {
                    return completion;
                }
            }
            return Completion.NORMAL;
        };
    }
}
