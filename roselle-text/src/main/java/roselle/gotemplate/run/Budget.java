package roselle.gotemplate.run;

import roselle.jinja.text.Limits;
import roselle.jinja.text.TemplateFault;

/** What a rendering has used of its limits, what it has written, and where it is. */
final class Budget {
    /** Templates within templates. */
    private static final int CALLS = 100;

    private final Limits limits;
    private final StringBuilder output = new StringBuilder();
    private int steps;
    private long work;
    private int calls;
    private int at;

    Budget(Limits limits) {
        this.limits = limits;
    }

    void step(int place) {
        at = place;
        if (++steps > limits.steps()) {
            throw new TemplateFault("the template takes more than " + limits.steps() + " steps");
        }
    }

    /** Accounts for characters that are made or read. */
    void charge(long characters) {
        work += characters;
        if (work > limits.work()) {
            throw new TemplateFault("the template copies more than " + limits.work() + " characters");
        }
    }

    void write(String text) {
        charge(text.length());
        if (output.length() + (long) text.length() > limits.outputCharacters()) {
            throw new TemplateFault("the output exceeds the limit of " + limits.outputCharacters() + " characters");
        }
        output.append(text);
    }

    void enter() {
        if (++calls > CALLS) {
            throw new TemplateFault("templates call each other more than " + CALLS + " deep");
        }
    }

    void leave() {
        calls--;
    }

    int at() {
        return at;
    }

    String output() {
        return output.toString();
    }
}
