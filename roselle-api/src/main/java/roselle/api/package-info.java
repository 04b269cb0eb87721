/** What a caller says and hears: request, sampling parameters, response format, events, exceptions. */
@NullMarked
package roselle.api;

import org.jspecify.annotations.NullMarked;
