/** ARM 4.0: transactions that somebody else measured, reported when they are done. */
package org.opengroup.arm40.tranreport;
