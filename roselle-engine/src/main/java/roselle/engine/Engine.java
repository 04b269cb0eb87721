package roselle.engine;

/** The facade. */
public final class Engine {
    private Engine() {}
}
