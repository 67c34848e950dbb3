"""Every command in one table, and the ways to find one."""
