/** What a server is started with: models, and one record a component with defaults in it. */
@NullMarked
package roselle.server.config;

import org.jspecify.annotations.NullMarked;
