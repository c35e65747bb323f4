/** The core of ARM 4.0: definitions, application instances, transactions, correlators. */
package org.opengroup.arm40.transaction;
