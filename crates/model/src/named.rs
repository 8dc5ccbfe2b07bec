//! Enums whose variants have names.

/// Declares an enum with a name beside each variant: `name` gives it, `named` the variant that has it, and `ALL` has the variants
/// in their order.
#[macro_export]
macro_rules! named_enum {
    ($(#[$about:meta])* $visible:vis enum $enum:ident { $($(#[$said:meta])* $variant:ident = $name:literal,)+ }) => {
        $(#[$about])*
        $visible enum $enum { $($(#[$said])* $variant,)+ }

        impl $enum {
            $visible const ALL: [$enum; [$($name),+].len()] = [$($enum::$variant),+];

            $visible fn name(self) -> &'static str {
                match self { $($enum::$variant => $name),+ }
            }

            $visible fn named(name: &str) -> Option<$enum> {
                $enum::ALL.into_iter().find(|one| one.name() == name)
            }
        }
    };
}
