//! What stands in a kernel's text: its parameters with address space, type and name, with macros, typedefs and structs looked up;
//! what it includes, and what only its host can define.
//!
//! No compiler: what is not understood has no type, and who asks says so.

use crate::c_text::{EMPTY, ValueType, add_field, ended, vector_of_three};
use crate::c_text::{
    MACROS, is_identifier, is_qualifier, is_statement, split_word, tokens, without_comments,
};
use crate::described::Formula;
use gpulab_model::data::Scalar;
use gpulab_model::plan::WorkGroup;
use gpulab_model::{Joined, has_part, is_among};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressSpace {
    Global,
    Constant,
    Local,
    Value,
    Image,
    Sampler,
}

impl AddressSpace {
    /// Whether it has a buffer.
    pub fn is_data(self) -> bool {
        matches!(self, AddressSpace::Global | AddressSpace::Constant)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct KernelParameter {
    pub name: String,
    pub space: AddressSpace,
    /// Whether the kernel may not write it; images may be read or written.
    pub is_const: bool,
    /// As it is written.
    pub text: String,
    /// As written, without qualifiers: `float4`.
    pub type_name: String,
    /// None where the type is not understood.
    pub value_type: Option<ValueType>,
}

/// What a kernel does with what a pointer leads to: a sum of these.
pub type Usage = u8;
pub const READ: Usage = 1;
pub const WRITTEN: Usage = 2;
/// By `+=` and the like.
pub const UPDATED: Usage = 4;
pub const ACCUMULATED: Usage = 8;
/// To a function, or another pointer.
pub const HANDED_ON: Usage = 16;
pub const CHANGED: Usage = WRITTEN | UPDATED | ACCUMULATED;

/// The text of a kernel's file, cut into words and signs.
pub struct CSource {
    tokens: Vec<String>,
    macros: BTreeMap<String, Vec<String>>,
    /// Macros with arguments, and the names of these.
    called: BTreeSet<String>,
}

/// Deeper definitions are taken for none.
const DEEPEST: usize = 16;

/// Names in functions.
type Seen = BTreeSet<(*const String, String)>;

impl CSource {
    /// Whether the text has one of these words, in small letters or capitals.
    pub fn has_word(&self, words: &str) -> bool {
        let mut tokens = self.tokens.iter();
        tokens.any(|token| is_among(&token.to_lowercase(), words))
    }

    /// Reads a text, of which macros are `defines` besides its own.
    pub fn new(text: &str, defines: &[(String, String)]) -> CSource {
        let mut macros: BTreeMap<String, Vec<String>> = defines
            .iter()
            .map(|(name, value)| (name.clone(), tokens(value)))
            .collect();
        let code = without_comments(text);
        let mut kept = String::new();
        let mut called = BTreeSet::new();
        // Of each conditional whether its lines count, and whether one of its branches did.
        let mut branches: Vec<(bool, bool)> = Vec::new();
        for line in code.lines() {
            let is_live = branches.iter().all(|(live, _)| *live);
            let Some(directive) = line.trim_start().strip_prefix('#') else {
                if is_live {
                    kept.push_str(line);
                    kept.push('\n');
                }
                continue;
            };
            let (word, rest) = split_word(directive.trim_start());
            match word {
                "ifdef" | "ifndef" | "if" => {
                    let is_taken = is_true(word, rest, &macros);
                    branches.push((is_taken, is_taken));
                }
                "elif" | "else" => {
                    if let Some((live, was_taken)) = branches.last_mut() {
                        *live = !*was_taken && (word == "else" || is_true("if", rest, &macros));
                        *was_taken |= *live;
                    }
                }
                "endif" => _ = branches.pop(),
                "define" if is_live => {
                    let (name, value) = split_word(rest.trim_start());
                    // One with arguments is no name of a type.
                    if value.starts_with('(') {
                        called.insert(name.to_owned());
                        called.extend(tokens(value.split(')').next().unwrap_or_default()));
                    } else if !defines.iter().any(|(given, _)| given == name) {
                        macros.insert(name.to_owned(), tokens(value));
                    }
                }
                "undef" if is_live => _ = macros.remove(split_word(rest.trim_start()).0),
                _ => {}
            }
        }
        CSource {
            tokens: tokens(&kept),
            macros,
            called,
        }
    }

    /// Takes macros for defined, whatever the text's conditionals asked of them.
    pub(crate) fn define(&mut self, macros: &BTreeMap<String, String>) {
        self.macros.extend(
            macros
                .iter()
                .map(|(name, value)| (name.clone(), tokens(value))),
        );
    }

    /// The number that a macro stands for.
    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        match &self.expanded(&[name.to_owned()])[..] {
            [only] => only.parse().ok(),
            [open, only, _] if open == "(" => only.parse().ok(),
            _ => None,
        }
    }

    /// The names of the kernels, and where the brackets of their parameters open.
    fn heads(&self) -> impl Iterator<Item = (&str, usize)> {
        (0..self.tokens.len())
            .filter(|at| is_kernel(&self.tokens[*at]))
            .filter_map(|at| self.head(at))
    }

    pub fn kernels(&self) -> Vec<String> {
        let mut names: Vec<String> = self.heads().map(|(name, _)| name.to_owned()).collect();
        names.dedup();
        names
    }

    /// The kernel of this name, or the only one of the text, which stands in `file`.
    pub(crate) fn kernel(&self, name: Option<&str>, file: &str) -> Result<String, String> {
        let all = self.kernels();
        let has = all.join(", ");
        match (name, &all[..]) {
            (_, []) => Err(format!("there is no kernel in {file}")),
            (None, [only]) => Ok(only.clone()),
            (None, [first, ..]) => Err(format!(
                "{file} has {} kernels: name one, as in {file}:{first}; it has {has}",
                all.len()
            )),
            (Some(name), _) if all.iter().any(|known| known == name) => Ok(name.to_owned()),
            (Some(name), _) => Err(format!("there is no kernel {name} in {file}; it has {has}")),
        }
    }

    pub fn parameters(&self, kernel: &str) -> Option<Vec<KernelParameter>> {
        let (_, open) = self.heads().find(|(name, _)| *name == kernel)?;
        let close = closing(&self.tokens, open)?;
        let list = self.expanded(&self.tokens[open + 1..close]);
        if list.is_empty() || list == ["void"] {
            return Some(Vec::new());
        }
        Some(
            split_at_commas(&list)
                .map(|words| self.parameter(words))
                .collect(),
        )
    }

    /// What a kernel does with the elements of a pointer, also by other names and in functions of its text.
    pub fn usage(&self, kernel: &str, name: &str) -> Usage {
        self.body(kernel)
            .map_or(0, |body| self.usage_in(body, name, &mut Seen::new()))
    }

    /// `seen` are the names that were followed before, by where their function's words lie.
    fn usage_in(&self, body: &[String], name: &str, seen: &mut Seen) -> Usage {
        let mut usage = 0;
        if !seen.insert((body.as_ptr(), name.to_owned())) {
            return usage;
        }
        let word = |place: usize| body.get(place).map_or("", String::as_str);
        for at in (0..body.len()).filter(|&at| body[at] == name && (at == 0 || body[at - 1] != "."))
        {
            let before = at.checked_sub(1).map_or("", word);
            // `float *x = ...` declares it.
            let is_declared = before == "*"
                && at > 1
                && word(at + 1) != "["
                && (is_identifier(word(at - 2)) && !is_statement(word(at - 2))
                    || is_qualifier(word(at - 2)));
            if is_declared {
                continue;
            }
            let is_sum = before == "(" && at > 1 && word(at - 2) == "*";
            let mut end = if is_sum {
                closing(body, at - 1).map_or(at, |close| close + 1)
            } else {
                at + 1
            };
            // Behind a cast: `((global uint *)x)[i]`.
            while !is_sum && before == ")" && word(end) == ")" {
                end += 1;
            }
            let is_indexed = word(end) == "[";
            while word(end) == "[" {
                end = closing(body, end).map_or(body.len(), |close| close + 1);
            }
            // Of a struct's field: `x[i].y = 1`, `x->y = 1`.
            let is_field = word(end) == "-" && word(end + 1) == ">";
            // A pointer is no factor of a product.
            let is_element = is_indexed || is_sum || is_field || before == "*";
            while word(end) == "." || word(end) == "-" && word(end + 1) == ">" {
                end += if word(end) == "." { 2 } else { 3 };
                while word(end) == "[" {
                    end = closing(body, end).map_or(body.len(), |close| close + 1);
                }
            }
            let is_address = before == "&";
            if !is_element || is_address {
                usage |= self.handed_on(body, name, at, seen);
                continue;
            }
            usage |= match (word(end), word(end + 1)) {
                ("=", "=") => READ,
                ("=", _) => WRITTEN,
                ("+" | "-" | "*" | "/" | "|" | "&" | "^", "=") => UPDATED,
                ("+", "+") | ("-", "-") => UPDATED,
                ("<", "<") | (">", ">") if word(end + 2) == "=" => UPDATED,
                _ => READ,
            };
        }
        usage
    }

    /// What becomes of a pointer that stands at a place without an index: it goes to a function, or gets another name.
    fn handed_on(&self, body: &[String], name: &str, at: usize, seen: &mut Seen) -> Usage {
        let word = |place: usize| body.get(place).map_or("", String::as_str);
        // Back to the bracket that it stands in, and how many commas lie between.
        let (mut open, mut inside, mut commas) = (at, 0i32, 0);
        while open > 0 {
            open -= 1;
            match word(open) {
                ")" | "]" => inside += 1,
                "(" | "[" if inside > 0 => inside -= 1,
                "," if inside == 0 => commas += 1,
                "(" if open > 0
                    && is_identifier(word(open - 1))
                    && !is_qualifier(word(open - 1)) =>
                {
                    return self
                        .given_to(word(open - 1), commas, seen)
                        .unwrap_or(HANDED_ON);
                }
                "=" if inside == 0 && open > 0 && is_identifier(word(open - 1)) => {
                    let alias = word(open - 1);
                    let is_pointer = body
                        .windows(2)
                        .any(|pair| pair[0] == "*" && pair[1] == alias);
                    return match is_pointer && alias != name {
                        true => self.usage_in(body, alias, seen),
                        false => HANDED_ON,
                    };
                }
                ";" | "{" | "}" => return HANDED_ON,
                _ => {}
            }
        }
        HANDED_ON
    }

    /// What a function does with what its parameter leads to: one of OpenCL C's, or of the text.
    fn given_to(&self, function: &str, parameter: usize, seen: &mut Seen) -> Option<Usage> {
        match function {
            _ if function.starts_with("atom") => return Some(ACCUMULATED),
            _ if function.starts_with("vload") || function == "prefetch" => return Some(READ),
            _ if function.starts_with("vstore") => return Some(WRITTEN),
            _ if function.starts_with("async_work_group") => {
                return Some(if parameter == 0 { WRITTEN } else { READ });
            }
            _ => {}
        }
        let starts = (1..self.tokens.len().saturating_sub(1))
            .filter(|at| self.tokens[*at] == function && self.tokens[at + 1] == "(");
        let (open, close) = starts
            .filter_map(|at| Some((at + 1, closing(&self.tokens, at + 1)?)))
            .find(|(_, close)| self.tokens.get(close + 1).is_some_and(|word| word == "{"))?;
        let name = split_at_commas(&self.tokens[open + 1..close])
            .nth(parameter)
            .map(|words| self.parameter(words).name)?;
        let end = closing(&self.tokens, close + 1)?;
        Some(self.usage_in(&self.tokens[close + 1..=end], &name, seen))
    }

    pub(crate) fn body(&self, kernel: &str) -> Option<&[String]> {
        let (_, open) = self.heads().find(|(name, _)| *name == kernel)?;
        let begin = closing(&self.tokens, open)? + 1;
        let begin = begin + self.tokens[begin..].iter().position(|word| word == "{")?;
        Some(&self.tokens[begin..=closing(&self.tokens, begin)?])
    }

    /// The work-group that a kernel demands by its attribute, wherever that stands before its name.
    pub fn required_group(&self, kernel: &str) -> Option<WorkGroup> {
        let at = self
            .tokens
            .windows(2)
            .position(|pair| pair[0] == kernel && pair[1] == "(")?;
        let from = self.tokens[..at]
            .iter()
            .rposition(|word| word == "}" || word == ";")
            .unwrap_or(0);
        let mut words = self.tokens[from..at].iter();
        let demand = words.position(|word| word.trim_matches('_') == "reqd_work_group_size")?;
        let open = from + demand + 1;
        let sides = self.expanded(&self.tokens[open + 1..closing(&self.tokens, open)?]);
        let mut group = [1; 3];
        for (side, words) in group.iter_mut().zip(split_at_commas(&sides)) {
            let count = Formula::parse(&words.join(" ")).ok()?;
            *side = count.count(1, 1 << 16, &|_| None).ok()? as usize;
        }
        Some(WorkGroup(group))
    }

    /// Elements of a kernel's first array in local memory, which mostly has one for each work-item of a group.
    pub(crate) fn local_length(&self, kernel: &str) -> Option<u64> {
        let body = self.body(kernel)?;
        let at = body
            .iter()
            .position(|word| word.trim_matches('_') == "local")?;
        let open = at + body[at..].iter().position(|word| word == "[")?;
        let words = self.expanded(&body[open + 1..closing(body, open)?]);
        let length = Formula::parse(&words.join(" ")).ok()?;
        length.count(16, 256, &|_| None).ok()
    }

    /// The names that the text uses, and that neither it nor OpenCL C gives a meaning.
    pub fn host_names(&self) -> Vec<String> {
        /// What OpenCL C defines, by its beginning.
        const KNOWN: &str = "CLK_ CL_ cl_ M_ FLT_ DBL_ HALF_ INT_ UINT_ LONG_ CHAR_ SHRT_ MAXFLOAT HUGE_VAL memory_ atomic_ __";
        const WORDS: &str = "INFINITY NAN NULL RAND_MAX if else for while do switch case default break continue return \
                             goto sizeof struct union enum typedef void true false event_t sampler_t kernel asm vec_step pipe \
                             queue_t clk_event_t ndrange_t reserve_id_t";
        let declared = self.declared();
        let used = without_attributes(&self.expanded(&self.tokens));
        let mut unset: Vec<String> = Vec::new();
        let mut in_string = false;
        for (at, word) in used.iter().enumerate() {
            let before = at.checked_sub(1).map_or("", |before| used[before].as_str());
            in_string ^= word == "\"";
            let is_part =
                [".", "'"].contains(&before) || before == ">" && at > 1 && used[at - 2] == "-";
            let is_call = used.get(at + 1).is_some_and(|next| next == "(");
            let has_meaning = KNOWN.split(' ').any(|known| word.starts_with(known))
                || WORDS.split(' ').chain(MACROS).any(|known| known == word)
                || word.starts_with("image") && word.ends_with("_t")
                || is_qualifier(word)
                || declared.contains(word)
                || self.called.contains(word)
                || self.macros.contains_key(word)
                || unset.contains(word);
            if !in_string
                && !is_part
                && !is_call
                && !has_meaning
                && is_identifier(word)
                && self.type_of(std::slice::from_ref(word), 0).is_none()
            {
                unset.push(word.clone());
            }
        }
        unset
    }

    /// The names that the text declares: what follows a type, a bracket of a type, or a comma after such a name.
    fn declared(&self) -> BTreeSet<String> {
        let word = |at: usize| self.tokens.get(at).map_or("", String::as_str);
        let mut names = BTreeSet::new();
        let mut is_enum = false;
        for at in 1..self.tokens.len() {
            let name = word(at);
            is_enum = word(at - 1) == "enum" || is_enum && name != "}";
            if !is_identifier(name) {
                continue;
            }
            // Back over `*` and `restrict`, to what the type's name ends with.
            let mut of = at - 1;
            while of > 0 && (word(of) == "*" || is_qualifier(word(of))) {
                of -= 1;
            }
            let is_type =
                is_identifier(word(of)) && !is_statement(word(of)) && !is_qualifier(word(of));
            let is_pointer = word(at - 1) == "*" || is_qualifier(word(at - 1));
            // `a * b` may be a product.
            let is_sure = !is_pointer
                || self.type_of(&[word(of).to_owned()], 0).is_some()
                || of > 0 && (is_qualifier(word(of - 1)) || word(of - 1) == "struct");
            let ends_type = word(at - 1) == "}" && [";", ",", "["].contains(&word(at + 1));
            // `float (*rows)[4]`.
            let is_of_arrays = word(at - 1) == "*"
                && word(of) == "("
                && word(at + 1) == ")"
                && word(at + 2) == "[";
            if is_enum || ends_type || is_of_arrays || is_type && is_sure {
                names.insert(name.to_owned());
                self.declarators(at + 1, &mut names);
            }
        }
        names
    }

    /// Adds what is declared behind commas: `j` of `int i = f(0, 1), j;`.
    fn declarators(&self, from: usize, names: &mut BTreeSet<String>) {
        let mut depth = 0;
        for (at, word) in self.tokens.iter().enumerate().skip(from) {
            match word.as_str() {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth -= 1,
                ";" => return,
                "," if depth == 0 => {
                    let mut behind = self.tokens[at + 1..].iter().skip_while(|word| *word == "*");
                    if let (Some(name), Some(next)) = (behind.next(), behind.next())
                        && is_identifier(name)
                        && !is_identifier(next)
                    {
                        names.insert(name.clone());
                    }
                }
                _ => {}
            }
            if depth < 0 {
                return;
            }
        }
    }

    /// The type of this name, as `float4`, `unsigned int` or `struct body`.
    pub fn value_type(&self, name: &str) -> Option<ValueType> {
        self.type_of(&tokens(name), 0)
    }

    /// The name of the kernel that begins here, and where the bracket before its parameters is.
    fn head(&self, at: usize) -> Option<(&str, usize)> {
        let mut open = at + 1;
        while self.tokens.get(open)? != "(" || self.tokens[open - 1].starts_with("__attribute") {
            open = if self.tokens[open] == "(" {
                closing(&self.tokens, open)? + 1
            } else {
                open + 1
            };
            if matches!(self.tokens.get(open)?.as_str(), ";" | "{") {
                return None;
            }
        }
        Some((&self.tokens[open - 1], open))
    }

    /// The words with macros replaced.
    fn expanded(&self, words: &[String]) -> Vec<String> {
        fn expand(source: &CSource, word: &String, depth: usize, into: &mut Vec<String>) {
            match source.macros.get(word).filter(|_| depth < DEEPEST) {
                Some(value) => value
                    .iter()
                    .filter(|part| *part != word)
                    .for_each(|part| expand(source, part, depth + 1, into)),
                None => into.push(word.clone()),
            }
        }
        let mut all = Vec::new();
        words
            .iter()
            .for_each(|word| expand(self, word, 0, &mut all));
        all
    }

    fn parameter(&self, words: &[String]) -> KernelParameter {
        let words = without_attributes(words);
        let has = |names: &str| words.iter().any(|word| is_among(word, names));
        let array = words.iter().position(|word| word == "[");
        let is_pointer = has("*") || array.is_some();
        let named = &words[..array.unwrap_or(words.len())];
        let names: Vec<&String> = named
            .iter()
            .filter(|word| {
                word.starts_with(|c: char| c.is_alphabetic() || c == '_') && !is_qualifier(word)
            })
            .collect();
        let (name, types) = match names.split_last() {
            Some((name, types)) if !types.is_empty() => ((*name).clone(), types),
            _ => (String::new(), &names[..]),
        };
        let type_name = types.iter().map(|word| word.as_str()).joined(" ");
        let space = if type_name.starts_with("image") {
            AddressSpace::Image
        } else if type_name == "sampler_t" {
            AddressSpace::Sampler
        } else if has("__local local") {
            AddressSpace::Local
        } else if has("__constant constant") {
            AddressSpace::Constant
        } else if is_pointer || has("__global global") {
            AddressSpace::Global
        } else {
            AddressSpace::Value
        };
        let is_read_only =
            space == AddressSpace::Image && !has("write_only __write_only read_write __read_write");
        // Of `float *const p` the pointer is constant, and not what it points to.
        let mut pointed = words.iter().take_while(|word| *word != "*");
        let is_const = pointed.any(|word| word.trim_matches('_') == "const")
            || is_read_only
            || space == AddressSpace::Constant;
        let value_type = self.value_type(&type_name);
        let text = words.join(" ").replace("* ", "*");
        KernelParameter {
            name,
            space,
            is_const,
            text,
            type_name,
            value_type,
        }
    }

    fn type_of(&self, words: &[String], depth: usize) -> Option<ValueType> {
        if depth > DEEPEST {
            return None;
        }
        let words: Vec<String> = self
            .expanded(words)
            .into_iter()
            .filter(|word| !is_qualifier(word))
            .collect();
        let name = words.join(" ");
        if let Some(scalar) = Scalar::in_c(&name) {
            return Some(ValueType::Number(scalar, 1));
        }
        let base = name.trim_end_matches(|c: char| c.is_ascii_digit());
        if let Ok(lanes @ (2 | 3 | 4 | 8 | 16)) = name[base.len()..].parse()
            && let Some(scalar) = Scalar::in_c(base)
            && !base.contains(' ')
        {
            return Some(if lanes == 3 {
                vector_of_three(scalar)
            } else {
                ValueType::Number(scalar, lanes)
            });
        }
        let (is_tag, name) = match &words[..] {
            [keyword, tag] if keyword == "struct" => (true, tag),
            [only] => (false, only),
            _ => return None,
        };
        match name.as_str() {
            "T" => return Some(ValueType::Case),
            "INDEX" => return Some(ValueType::Index),
            _ => {}
        }
        if is_tag {
            self.tagged(name, depth)
        } else {
            self.typedef(name, depth)
                .or_else(|| self.tagged(name, depth))
        }
    }

    /// What `typedef ... name;` says.
    fn typedef(&self, name: &str, depth: usize) -> Option<ValueType> {
        let starts = (0..self.tokens.len()).filter(|at| self.tokens[*at] == "typedef");
        starts
            .filter_map(|at| self.typedef_at(at + 1, name, depth))
            .next_back()
    }

    fn typedef_at(&self, start: usize, name: &str, depth: usize) -> Option<ValueType> {
        let body = (start..(start + 8).min(self.tokens.len()))
            .find(|at| ["{", ";"].contains(&self.tokens[*at].as_str()))?;
        let from = if self.tokens[body] == "{" {
            closing(&self.tokens, body)? + 1
        } else {
            start
        };
        let end = from + self.tokens[from..].iter().position(|word| word == ";")?;
        let declared = without_attributes(&self.tokens[from..end]);
        if self.tokens[body] == "{" {
            return declared
                .iter()
                .any(|word| word == name)
                .then(|| self.fields(body, depth))?;
        }
        let (last, words) = declared.split_last()?;
        (last == name && !words.iter().any(|word| word == "*"))
            .then(|| self.type_of(words, depth + 1))?
    }

    /// What `struct name { ... }` says.
    fn tagged(&self, name: &str, depth: usize) -> Option<ValueType> {
        let mut starts = self.tokens.windows(3);
        let at = starts.position(|three| three == ["struct", name, "{"])?;
        self.fields(at + 2, depth)
    }

    /// The struct whose fields stand in the bracket at `open`; none of a union.
    fn fields(&self, open: usize, depth: usize) -> Option<ValueType> {
        let close = closing(&self.tokens, open)?;
        let mut before = self.tokens[open.saturating_sub(2)..open].iter();
        if before.any(|word| word == "union" || word == "enum") {
            return None;
        }
        let mut behind = self.tokens[close + 1..].iter().take(5);
        let is_packed = behind.any(|word| word.contains("packed"));
        let mut layout = EMPTY;
        for statement in self.tokens[open + 1..close]
            .split(|word| word == ";")
            .filter(|words| !words.is_empty())
        {
            let words = without_attributes(statement);
            let mut parts = words.split(|word| word == ",");
            let first = parts.next()?;
            let name_at = first
                .iter()
                .position(|word| word == "[")
                .unwrap_or(first.len())
                .checked_sub(1)?;
            let of = self.type_of(&first[..name_at], depth + 1)?;
            for declarator in std::iter::once(&first[name_at..]).chain(parts) {
                let (name, counts) = declarator.split_first()?;
                let counts: Vec<usize> = self
                    .expanded(counts)
                    .iter()
                    .filter_map(|word| word.parse().ok())
                    .collect();
                add_field(
                    &mut layout,
                    is_packed,
                    name,
                    &of,
                    counts.iter().product::<usize>().max(1),
                )?;
            }
        }
        Some(ValueType::Struct(ended(layout)))
    }
}

/// Those of gpulab's macros whose names a text uses for something of its own: they must not be set.
pub(crate) fn hidden_macros(text: &str) -> Vec<&'static str> {
    let source = CSource::new(text, &[]);
    let declared = source.declared();
    let is_hidden = |name: &&str| declared.contains(*name) || source.macros.contains_key(*name);
    MACROS.into_iter().filter(is_hidden).collect()
}

fn is_kernel(word: &str) -> bool {
    word == "__kernel" || word == "kernel"
}

/// Where the bracket at `open` ends; none of what is no bracket.
pub(crate) fn closing(tokens: &[String], open: usize) -> Option<usize> {
    if !["(", "{", "["].contains(&tokens.get(open)?.as_str()) {
        return None;
    }
    let mut depth = 0usize;
    for (at, word) in tokens.iter().enumerate().skip(open) {
        match word.as_str() {
            "(" | "{" | "[" => depth += 1,
            ")" | "}" | "]" => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

fn split_at_commas(words: &[String]) -> impl Iterator<Item = &[String]> {
    let mut depth = 0i32;
    words.split(move |word| {
        depth += i32::from(word == "(") - i32::from(word == ")");
        word == "," && depth == 0
    })
}

fn without_attributes(words: &[String]) -> Vec<String> {
    let mut kept = Vec::new();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        if word.starts_with("__attribute") {
            at = closing(words, at + 1).map_or(words.len(), |close| close + 1);
            continue;
        }
        kept.push(word.clone());
        at += 1;
    }
    kept
}

/// Whether a conditional's lines count: those of a condition that is not understood do.
fn is_true(word: &str, rest: &str, macros: &BTreeMap<String, Vec<String>>) -> bool {
    let words = tokens(rest);
    let words: Vec<&str> = words
        .iter()
        .map(String::as_str)
        .filter(|word| !["(", ")"].contains(word))
        .collect();
    let is_defined = |name: &str| macros.contains_key(name);
    match (word, &words[..]) {
        ("ifdef", [name, ..]) => is_defined(name),
        ("ifndef", [name, ..]) => !is_defined(name),
        (_, ["defined", name]) => is_defined(name),
        (_, ["!", "defined", name]) => !is_defined(name),
        (_, [name, "=", "=", number]) => macros
            .get(*name)
            .is_none_or(|value| value.join("") == **number),
        (_, [number]) if number.parse::<i64>().is_ok() => *number != "0",
        (_, [name]) => macros.get(*name).is_some_and(|value| value.join("") != "0"),
        _ => true,
    }
}

impl CSource {
    /// Values of macros that nobody defines, in a launch of so many dimensions: `element` for the type of a kernel's buffers,
    /// and what a name says of itself, as `BLOCK_SIZE` of the work-group. Other names have none.
    pub(crate) fn guesses(&self, dimensions: usize, element: &str) -> BTreeMap<String, String> {
        let kernels = self.kernels();
        let of_buffers = kernels
            .iter()
            .filter_map(|kernel| self.parameters(kernel))
            .flatten()
            .filter(|parameter| {
                let name = &parameter.type_name;
                (parameter.space.is_data() || parameter.space == AddressSpace::Local)
                    && parameter.value_type.is_none()
                    && is_elements_name(name)
                    && !self.macros.contains_key(name)
            });
        let types = of_buffers.map(|parameter| (parameter.type_name, element.to_owned()));
        let unset = self.host_names().into_iter();
        let numbers = unset.filter_map(|name| {
            named_value(&name, dimensions).map(|value| (name, value.to_owned()))
        });
        numbers.chain(types).collect()
    }

    /// The work-group that macros of the text name, in so many dimensions.
    pub(crate) fn named_group(&self, dimensions: usize) -> Option<WorkGroup> {
        let side = |wanted: &[&str]| {
            let mut names = self.macros.keys();
            let name = names.find(|name| {
                named_value(name, dimensions).is_some_and(|value| wanted.contains(&value))
            });
            self.number(name?).map(|number| number as usize)
        };
        let wide = side(&["WG", "WG_X"])?;
        let high = match dimensions {
            2 => side(&["WG_Y"]).unwrap_or(wide),
            _ => 1,
        };
        let is_usual = dimensions < 3 && (1..=1024).contains(&wide.saturating_mul(high));
        is_usual.then_some(WorkGroup([wide, high, 1]))
    }
}

/// Whether a type's name says that it is one number.
fn is_elements_name(name: &str) -> bool {
    let small = name.to_lowercase();
    has_part(&small, "real float type fp scalar")
        // A vector is more than an element, and so is a struct.
        && !name.ends_with(|c: char| c.is_ascii_digit())
        && !small.contains(' ')
        && !has_part(&small, "param dim info index size")
}

/// What a macro of this name is in most kernels.
fn named_value(name: &str, dimensions: usize) -> Option<&'static str> {
    let small = name.to_lowercase().replace('_', "");
    let has = |parts: &str| has_part(&small, parts);
    let is_group = has("block group wg local thread") && has("size dim items")
        || is_among(
            &small,
            "wgx wgy wgz threads threadsx threadsy localx localy",
        );
    match () {
        () if has("vectorsize vectorwidth vecsize unroll workper wpt") || small == "vector" => {
            Some("1")
        }
        () if has("ispow2") => Some("0"),
        () if has("indextype sizetype") => Some("int"),
        () if dimensions == 1 && has("numblocks numgroups wgnum numwg") => Some("ceil(n, WG)"),
        () if has("num count tile mem limit relax use") => None,
        () if is_group && small.ends_with('z') => Some("1"),
        () if is_group && dimensions == 1 && !small.ends_with('y') => Some("WG"),
        () if is_group && small.ends_with('y') => Some(if dimensions == 1 { "1" } else { "WG_Y" }),
        () if is_group => Some("WG_X"),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn types(text: &str, kernel: &str) -> Vec<(String, AddressSpace, Option<ValueType>)> {
        let all = CSource::new(text, &[]).parameters(kernel).unwrap();
        all.into_iter()
            .map(|parameter| (parameter.name, parameter.space, parameter.value_type))
            .collect()
    }

    #[test]
    fn names_that_a_text_declares_are_its_own() {
        for (text, name, is_own) in [
            ("__global const T *x; T y; (T)z; return T(1);", "T", false),
            ("float T = 1;", "T", true),
            ("typedef float T;", "T", true),
            ("#define T float", "T", true),
            ("#define TILE 4\nT x;", "T", false),
            ("const int WG = 64;", "WG", true),
            ("int l = f(0), T = 3;", "T", true),
            ("x[WG]; for (s = WG / 2;;)", "WG", false),
            ("// float T\nT x;", "T", false),
        ] {
            assert_eq!(hidden_macros(text).contains(&name), is_own, "{text}");
        }
    }

    #[test]
    fn parameters_have_space_type_and_name() {
        let text = "
            // __kernel void other(int a)
            #define REAL float
            typedef unsigned int u32;
            typedef struct { float x, y; int id[2]; double mass; } Body;
            __kernel __attribute__((reqd_work_group_size(16, 16, 1))) void
            step(__global const REAL * restrict in, global float4 out[], __constant u32 *table, local float *tile,
                 const unsigned int n, float3 shift, size_t m, __global struct Body *bodies, Body one,
                 __read_only image2d_t image, sampler_t s, T alpha, unknown_t u) {}
            kernel void last(void) {}";
        let f32 = |lanes| Some(ValueType::Number(Scalar::F32, lanes));
        let u32 = Some(ValueType::Number(Scalar::U32, 1));
        let all = types(text, "step");
        let spaces: Vec<AddressSpace> = all.iter().map(|(_, space, _)| *space).collect();
        use AddressSpace::{Constant, Global, Image, Local, Sampler, Value};
        assert_eq!(
            spaces,
            [
                Global, Global, Constant, Local, Value, Value, Value, Global, Value, Image,
                Sampler, Value, Value
            ]
        );
        let of: Vec<Option<ValueType>> = all.iter().map(|(.., of)| of.clone()).collect();
        assert_eq!(of[..3], [f32(1), f32(4), u32.clone()]);
        assert_eq!(of[3..5], [f32(1), u32]);
        assert_eq!(
            of[5..7],
            [
                Some(vector_of_three(Scalar::F32)),
                Some(ValueType::Number(Scalar::U64, 1))
            ]
        );
        let Some(ValueType::Struct(body)) = &of[8] else {
            panic!("{:?}", of[8])
        };
        assert_eq!((body.size, body.fields.len()), (24, 5));
        let names: Vec<(&str, usize)> = body
            .fields
            .iter()
            .map(|field| (field.name.as_str(), field.at))
            .collect();
        assert_eq!(
            names,
            [("x", 0), ("y", 4), ("id_0", 8), ("id_1", 12), ("mass", 16)]
        );
        assert_eq!((&of[11], &of[12]), (&Some(ValueType::Case), &None));
        assert_eq!(all[1].0, "out");
        let source = CSource::new(text, &[]);
        assert_eq!(source.kernels(), ["step", "last"]);
        assert_eq!(source.parameters("last"), Some(Vec::new()));
        assert!(source.parameters("step").unwrap()[0].is_const);
        assert_eq!(source.parameters("other"), None);
    }

    #[test]
    fn conditionals_choose_among_twins() {
        let text = "#ifdef DOUBLE\ntypedef double real;\n#else\ntypedef float real;\n#endif\nkernel void k(global real *x) {}";
        let of = |defines: &[(String, String)]| {
            CSource::new(text, defines).parameters("k").unwrap()[0]
                .value_type
                .clone()
                .unwrap()
        };
        assert_eq!(of(&[]), ValueType::Number(Scalar::F32, 1));
        assert_eq!(
            of(&[("DOUBLE".into(), "1".into())]),
            ValueType::Number(Scalar::F64, 1)
        );
        let given = CSource::new(
            "kernel void k(global real *x) {}",
            &[("real".into(), "short".into())],
        );
        assert_eq!(
            given.parameters("k").unwrap()[0].value_type,
            Some(ValueType::Number(Scalar::I16, 1))
        );
    }

    #[test]
    fn any_text_is_taken() {
        for text in [
            "",
            "kernel",
            "kernel void",
            "kernel void k(",
            "typedef struct {",
            "#if\n#else\n#endif\n#endif",
            "#define X X\nkernel void k(X a){}",
        ] {
            let source = CSource::new(text, &[]);
            let _ = (
                source.kernels(),
                source.parameters("k"),
                source.value_type("X"),
            );
        }
    }

    #[test]
    fn pointers_are_followed_under_other_names_and_into_functions() {
        let text = "void put(float x, global float *to) { *to = x; }
            kernel void k(global float *a, global float *b, global uchar *c, global float *d, global float *e, global S *f) {
            global float *p = &a[i * 4]; *p = 1; global const float *q = e + 3; x = q[i]; put(2, b + i); ((global uint *)c)[i] = 3; *(d + i) = vload4(0, e).x;
            f->x = 1; other(g); }";
        let source = CSource::new(text, &[]);
        for (name, writes, reads) in [
            ("a", true, false),
            ("b", true, false),
            ("c", true, false),
            ("d", true, false),
            ("e", false, true),
            ("f", true, false),
        ] {
            let usage = source.usage("k", name);
            assert_eq!(
                (usage & CHANGED > 0, usage & READ > 0, usage & HANDED_ON > 0),
                (writes, reads, false),
                "{name}"
            );
        }
        assert_eq!(source.usage("k", "g"), HANDED_ON);
    }

    #[test]
    fn what_a_kernel_does_with_its_pointers_is_seen() {
        let text = "kernel void k(global float *a, global float *b, global int *c, global float *d, global float *e) {
            if (a[i] == b[i + 1]) b[a[0]] = 2; c[i].x += 1; atomic_inc(&d[c[2]]); vstore4(v, 0, e); e[i] <<= 1; *f = 2; }";
        let source = CSource::new(text, &[]);
        let usages = ["a", "b", "c", "d", "e", "f"].map(|name| source.usage("k", name));
        assert_eq!(
            usages,
            [
                READ,
                READ | WRITTEN,
                READ | UPDATED,
                ACCUMULATED,
                WRITTEN | UPDATED,
                WRITTEN
            ]
        );
    }

    #[test]
    fn what_only_the_host_knows_is_named() {
        let text = "#define TILE 16\n#define SIZE (TILE * block_y)\n#if vector == 2\ntypedef float2 vec;\n#elif vector == 4\n\
                    typedef float4 vec;\n#endif\n#ifdef SINGLE\n#define REAL float\n#elif DOUBLE\n#define REAL double\n#endif\n\
                    enum { RED, GREEN };\ntypedef struct { float lat, lng; } place;\n\
                    __kernel __attribute__((reqd_work_group_size(TILE, TILE / 2, 1))) void k(global float *a, float A0,\n\
                    __constant TYPE * restrict b, TYPE c, global REAL *d) {\n#pragma unroll steps\n\
                    for (int i = 0, *j = 0; i < SIZE; i++) { local float t[TILE * BLOCK]; a[i] = t[*j] * INFINITY + FLT_MAX\n\
                    + MAX(1, BLOCK) + M_PI_F + A0 + RED + 1.0f + 0x1F; }\nconst place *p = 0, q; a[0] = p->lat; \
                    printf(\"%d words\", c); b * factor; }";
        let source = CSource::new(text, &[]);
        assert_eq!(
            source.host_names(),
            ["TYPE", "REAL", "block_y", "BLOCK", "factor"]
        );
        assert_eq!(source.required_group("k"), Some(WorkGroup([16, 8, 1])));
    }
    #[test]
    fn structs_are_aligned_as_in_c() {
        let struct_of = |text: &str| match CSource::new(text, &[]).value_type("S") {
            Some(ValueType::Struct(layout)) => layout,
            other => panic!("{other:?}"),
        };
        assert_eq!(
            struct_of("struct S { char c; double d; short s; };").size,
            24
        );
        assert_eq!(
            struct_of("typedef struct __attribute__((packed)) { char c; int i; } S;").size,
            8,
            "before it"
        );
        assert_eq!(
            struct_of("typedef struct { char c; int i; } __attribute__((packed)) S;").size,
            5
        );
        let nested =
            struct_of("typedef struct P { float2 p; } P; typedef struct { char c; P p[2]; } S;");
        assert_eq!(
            (nested.fields[1].at, nested.size),
            (8, 24),
            "a struct is aligned as its vectors are"
        );
        let of_three = struct_of("struct S { char c; float3 p; int k; };");
        let places: Vec<(&str, usize)> = of_three
            .fields
            .iter()
            .map(|field| (field.name.as_str(), field.at))
            .collect();
        assert_eq!(
            places,
            [("c", 0), ("p_0", 16), ("p_1", 20), ("p_2", 24), ("k", 32)]
        );
    }

    #[test]
    fn names_of_hosts_are_guessed_where_they_say_what_they_are() {
        let text = "#ifdef SINGLE
            #define REAL float
            #endif
            kernel void k(global const REAL *x, global body_t *bodies, const KParam p, global real4 *v)
            { local REAL part[BLOCK_SIZE + blockDim_y + work_group_size_x + NUM_BLOCKS + TILE_SIZE + local_mem_size]; }";
        let guesses = CSource::new(text, &[]).guesses(2, "T");
        let guesses: Vec<String> = guesses
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        assert_eq!(
            guesses,
            [
                "BLOCK_SIZE=WG_X",
                "REAL=T",
                "blockDim_y=WG_Y",
                "work_group_size_x=WG_X"
            ]
        );
        let one = CSource::new(text, &[]).guesses(1, "float");
        assert_eq!(
            (
                one["BLOCK_SIZE"].as_str(),
                one["blockDim_y"].as_str(),
                one["REAL"].as_str()
            ),
            ("WG", "1", "float")
        );
        assert_eq!(one["NUM_BLOCKS"], "ceil(n, WG)");
        let said = CSource::new(
            text,
            &[
                ("REAL".into(), "double".into()),
                ("BLOCK_SIZE".into(), "8".into()),
            ],
        );
        assert!(
            !said.guesses(1, "T").contains_key("REAL")
                && !said.guesses(1, "T").contains_key("BLOCK_SIZE")
        );
    }
}
