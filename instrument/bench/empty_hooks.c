/* Empty hooks, to measure the cost of -finstrument-functions alone. */
__attribute__((no_instrument_function)) void __cyg_profile_func_enter(void *function, void *site)
{
    (void)function;
    (void)site;
}

__attribute__((no_instrument_function)) void __cyg_profile_func_exit(void *function, void *site)
{
    (void)function;
    (void)site;
}
