//! The `#[transaction]` attribute. Use it as `chronoscope_record::transaction`.

use proc_macro::TokenStream;
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::{Ident, ItemFn, LitStr, Token, parse_macro_input};

/// Makes every call of a function one transaction.
///
/// The class is named after the function, or by the argument: `#[transaction("decodePlots")]`. With
/// `result` (`#[transaction(result)]`, `#[transaction("decodePlots", result)]`) a call that returns
/// `Err` ends FAILED; with `process_cpu` the class records process CPU time too. An async function
/// is one transaction from its first poll until it is ready; dropped before, it ends ABORTED. A
/// panic ends it ABORTED. The crate must be known as `chronoscope_record`.
#[proc_macro_attribute]
pub fn transaction(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let arguments = parse_macro_input!(arguments as Arguments);
    let function = parse_macro_input!(item as ItemFn);
    expand(&arguments, function).into()
}

#[derive(Default)]
struct Arguments {
    name: Option<LitStr>,
    result: bool,
    process_cpu: bool,
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut arguments = Self::default();
        while !input.is_empty() {
            if input.peek(LitStr) {
                let name: LitStr = input.parse()?;
                if name.value().is_empty() || arguments.name.is_some() {
                    return Err(syn::Error::new(name.span(), "one class name, not empty"));
                }
                arguments.name = Some(name);
            } else {
                let word: Ident = input.parse()?;
                match word.to_string().as_str() {
                    "result" => arguments.result = true,
                    "process_cpu" => arguments.process_cpu = true,
                    _ => {
                        let message = "expected a class name, `result` or `process_cpu`";
                        return Err(syn::Error::new(word.span(), message));
                    }
                }
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(arguments)
    }
}

fn expand(arguments: &Arguments, function: ItemFn) -> proc_macro2::TokenStream {
    let ItemFn { attrs, vis, sig, block } = function;
    let name = arguments
        .name
        .clone()
        .unwrap_or_else(|| LitStr::new(&sig.ident.to_string(), sig.ident.span()));
    let process_cpu = arguments.process_cpu.then(|| quote!(, process_cpu));
    let class = quote! {
        static __CLASS: ::chronoscope_record::Class =
            ::chronoscope_record::class!(#name #process_cpu);
    };
    let body = match (sig.asyncness.is_some(), arguments.result) {
        (true, false) => quote! { __CLASS.measure(async move #block).await },
        (true, true) => quote! { __CLASS.measure_result(async move #block).await },
        (false, false) => quote! {
            let __guard = __CLASS.begin();
            #block
        },
        (false, true) => {
            // Closures may not say `impl Trait`; there the type is inferred.
            let output = match &sig.output {
                syn::ReturnType::Type(arrow, kind)
                    if !matches!(**kind, syn::Type::ImplTrait(_)) =>
                {
                    quote!(#arrow #kind)
                }
                _ => quote!(),
            };
            // The closure is there for `?` and `return`, which must not pass the guard by.
            quote! {
                let __guard = __CLASS.begin();
                let __result = ::chronoscope_record::call_once(move || #output #block);
                __guard.stop(::chronoscope_record::status_of(&__result));
                __result
            }
        }
    };
    quote! {
        #(#attrs)*
        #vis #sig {
            #class
            #body
        }
    }
}
