/** Bring requests to the models and their events back: models by name, admission, disconnects, observers. */
@NullMarked
package roselle.server.answer;

import org.jspecify.annotations.NullMarked;
