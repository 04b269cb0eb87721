/** Tests of the page in a real browser. */
@NullMarked
package roselle.server.web;

import org.jspecify.annotations.NullMarked;
