package roselle.jinja.value;

import java.util.Collections;
import java.util.Iterator;
import java.util.function.Supplier;

/** Python's generator: members are made when they are asked for, once, and nobody knows how many there are. */
public final class Generator implements Iterator<Object> {
    private final String name;
    private final Supplier<Iterator<Object>> beginning;
    private Iterator<Object> members = Collections.emptyIterator();
    private boolean begun;

    private Generator(String name, Supplier<Iterator<Object>> beginning) {
        this.name = name;
        this.beginning = beginning;
    }

    public Generator(String name, Iterator<Object> members) {
        this(name, () -> members);
    }

    /** A generator that does nothing before its first member is asked for. */
    public static Generator of(String name, Supplier<Iterator<Object>> beginning) {
        return new Generator(name, beginning);
    }

    String name() {
        return name;
    }

    @Override
    public boolean hasNext() {
        begin();
        return members.hasNext();
    }

    @Override
    public Object next() {
        begin();
        return members.next();
    }

    private void begin() {
        if (!begun) {
            begun = true;
            members = beginning.get();
        }
    }
}
