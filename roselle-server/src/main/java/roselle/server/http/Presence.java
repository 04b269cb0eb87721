package roselle.server.http;

/** Whether the peer of a request is still there. */
interface Presence {
    void whenGone(Runnable action);
}
