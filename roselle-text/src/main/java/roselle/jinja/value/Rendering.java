package roselle.jinja.value;

import java.time.LocalDateTime;
import org.jspecify.annotations.Nullable;
import roselle.jinja.text.Limits;
import roselle.jinja.text.TemplateFault;

/** One rendering under way: its output, its variables and what it has used of its limits. One thread's. */
public final class Rendering {
    private final Limits limits;
    private final Names names;
    private final LocalDateTime now;
    private final StringBuilder output = new StringBuilder(4096);
    private int steps;
    private long work;
    private int depth;
    private int at;

    public Rendering(Limits limits, Names names, LocalDateTime now) {
        this.limits = limits;
        this.names = names;
        this.now = now;
    }

    /** The time that {@code strftime_now} tells. */
    public LocalDateTime now() {
        return now;
    }

    /** Offset in the source of what runs now. */
    public int at() {
        return at;
    }

    public StringBuilder output() {
        return output;
    }

    public void step(int place) {
        at = place;
        step();
    }

    public void step() {
        if (++steps > limits.steps()) {
            throw new TemplateFault("the template takes more than " + limits.steps() + " steps");
        }
    }

    /** Accounts for characters or elements that are about to be copied or searched. */
    public void charge(long units) {
        work += units;
        if (work > limits.work()) {
            throw new TemplateFault("the template copies more than " + limits.work() + " characters");
        }
    }

    /** Accounts for a string of this length before it is made. */
    public void chargeText(long length) {
        if (length > limits.textCharacters()) {
            throw new TemplateFault(
                    "a string of " + length + " characters exceeds the limit of " + limits.textCharacters());
        }
        charge(length + 8);
    }

    /** Accounts for a list of this length before it is made. */
    public void chargeElements(long count) {
        if (count > limits.elements()) {
            throw new TemplateFault("a list of " + count + " elements exceeds the limit of " + limits.elements());
        }
        charge(Limits.ELEMENT_WORK * count + 8);
    }

    /** Refuses an integer of more bits before it is computed; its cost grows with the square. */
    public void chargeBits(long bits) {
        if (bits > limits.integerBits()) {
            throw new TemplateFault("an integer exceeds the limit of " + limits.integerBits() + " bits");
        }
        long words = bits / 32;
        charge(words * words / 16);
    }

    public void write(String text) {
        charge(text.length());
        output.append(text);
        if (output.length() > limits.outputCharacters()) {
            throw new TemplateFault("the output exceeds the limit of " + limits.outputCharacters() + " characters");
        }
    }

    /** Takes back what was written since the mark. */
    public String cut(int mark) {
        charge(output.length() - mark);
        String text = output.substring(mark);
        output.setLength(mark);
        return text;
    }

    /** Accounts for a call whose body is so many tree levels high; each needs its {@code leave}. */
    public void enter(int levels) {
        depth += levels;
        if (depth > limits.depth()) {
            throw new TemplateFault("macros or recursive loops are nested too deeply");
        }
    }

    public void leave(int levels) {
        depth -= levels;
    }

    /** What a name means that the template does not define; null where it means nothing. */
    @Nullable
    public Object resolve(String name) {
        return names.find(this, name);
    }
}
