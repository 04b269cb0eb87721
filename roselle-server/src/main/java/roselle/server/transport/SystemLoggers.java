package roselle.server.transport;

import io.netty.util.internal.logging.AbstractInternalLogger;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import io.netty.util.internal.logging.MessageFormatter;
import java.io.Serial;
import java.lang.System.Logger.Level;

/**
 * Where the log of Netty goes: where ours does. By itself it would load and set up {@code java.util.logging}, in the midst of a
 * start.
 */
final class SystemLoggers extends InternalLoggerFactory {
    @Override
    protected InternalLogger newInstance(String name) {
        return new Forwarding(name);
    }

    private static final class Forwarding extends AbstractInternalLogger {
        @Serial
        private static final long serialVersionUID = 1L;

        private final transient System.Logger log;

        Forwarding(String name) {
            super(name);
            log = System.getLogger(name);
        }

        private void log(Level level, String format, Object... values) {
            if (log.isLoggable(level)) {
                var tuple = MessageFormatter.arrayFormat(format, values);
                log.log(level, tuple.getMessage(), tuple.getThrowable());
            }
        }

        @Override
        public boolean isTraceEnabled() {
            return log.isLoggable(Level.TRACE);
        }

        @Override
        public void trace(String message) {
            log.log(Level.TRACE, message);
        }

        @Override
        public void trace(String format, Object value) {
            log(Level.TRACE, format, value);
        }

        @Override
        public void trace(String format, Object first, Object second) {
            log(Level.TRACE, format, first, second);
        }

        @Override
        public void trace(String format, Object... values) {
            log(Level.TRACE, format, values);
        }

        @Override
        public void trace(String message, Throwable thrown) {
            log.log(Level.TRACE, message, thrown);
        }

        @Override
        public boolean isDebugEnabled() {
            return log.isLoggable(Level.DEBUG);
        }

        @Override
        public void debug(String message) {
            log.log(Level.DEBUG, message);
        }

        @Override
        public void debug(String format, Object value) {
            log(Level.DEBUG, format, value);
        }

        @Override
        public void debug(String format, Object first, Object second) {
            log(Level.DEBUG, format, first, second);
        }

        @Override
        public void debug(String format, Object... values) {
            log(Level.DEBUG, format, values);
        }

        @Override
        public void debug(String message, Throwable thrown) {
            log.log(Level.DEBUG, message, thrown);
        }

        @Override
        public boolean isInfoEnabled() {
            return log.isLoggable(Level.INFO);
        }

        @Override
        public void info(String message) {
            log.log(Level.INFO, message);
        }

        @Override
        public void info(String format, Object value) {
            log(Level.INFO, format, value);
        }

        @Override
        public void info(String format, Object first, Object second) {
            log(Level.INFO, format, first, second);
        }

        @Override
        public void info(String format, Object... values) {
            log(Level.INFO, format, values);
        }

        @Override
        public void info(String message, Throwable thrown) {
            log.log(Level.INFO, message, thrown);
        }

        @Override
        public boolean isWarnEnabled() {
            return log.isLoggable(Level.WARNING);
        }

        @Override
        public void warn(String message) {
            log.log(Level.WARNING, message);
        }

        @Override
        public void warn(String format, Object value) {
            log(Level.WARNING, format, value);
        }

        @Override
        public void warn(String format, Object first, Object second) {
            log(Level.WARNING, format, first, second);
        }

        @Override
        public void warn(String format, Object... values) {
            log(Level.WARNING, format, values);
        }

        @Override
        public void warn(String message, Throwable thrown) {
            log.log(Level.WARNING, message, thrown);
        }

        @Override
        public boolean isErrorEnabled() {
            return log.isLoggable(Level.ERROR);
        }

        @Override
        public void error(String message) {
            log.log(Level.ERROR, message);
        }

        @Override
        public void error(String format, Object value) {
            log(Level.ERROR, format, value);
        }

        @Override
        public void error(String format, Object first, Object second) {
            log(Level.ERROR, format, first, second);
        }

        @Override
        public void error(String format, Object... values) {
            log(Level.ERROR, format, values);
        }

        @Override
        public void error(String message, Throwable thrown) {
            log.log(Level.ERROR, message, thrown);
        }
    }
}
