package roselle.server.http;

/** One way to talk to the models: an API, a page, metrics. An open interface: the server takes any number of them. */
public interface Dialect {
    /** Adds what it answers. */
    void register(Routes routes);
}
