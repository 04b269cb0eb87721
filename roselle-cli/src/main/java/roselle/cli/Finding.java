package roselle.cli;

/**
 * One thing that {@code roselle doctor} found out.
 *
 * @param name a word for what was looked at
 * @param fact what is so
 * @param advice what to do about it; empty where there is nothing to do
 */
record Finding(String name, Level level, String fact, String advice) {
    /** How much it matters. */
    enum Level {
        FINE,
        /** Something works less well than it could. */
        NOTE,
        /** Nothing can run. */
        PROBLEM
    }

    static Finding fine(String name, String fact) {
        return new Finding(name, Level.FINE, fact, "");
    }

    static Finding note(String name, String fact, String advice) {
        return new Finding(name, Level.NOTE, fact, advice);
    }

    static Finding problem(String name, String fact, String advice) {
        return new Finding(name, Level.PROBLEM, fact, advice);
    }
}
