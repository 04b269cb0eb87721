package roselle.cuda.driver;

/** One call of a native function that returns its library's error code. */
@FunctionalInterface
public interface NativeCall {
    /** What a method handle's invocation may declare, and never throws. */
    int run() throws Throwable;

    /** The error code of a call. */
    static int errorOf(NativeCall call) {
        try {
            return call.run();
        } catch (RuntimeException | Error failure) {
            throw failure;
        } catch (Throwable impossible) {
            throw new AssertionError("a native call threw", impossible);
        }
    }
}
