/** What a caller asks of the hub and hears of it: a model's name, options, progress, failures. */
@NullMarked
package roselle.hub.request;

import org.jspecify.annotations.NullMarked;
