//! The submissions of a class: DIR/STUDENT/NAME.cl, graded one after the other. A bad one costs its own row.

use super::grading::Grader;
use super::{ExerciseVerdict, Grade, GradeRow, NAMES, exercise};
use crate::cli::ExerciseCheck;
use crate::outputs::TextOrJson;
use crate::prelude::*;
use crate::store::{CsvFile, Mode};
use crate::suggest::{did_you_mean, nearest};
use serde::Serialize;

struct HandedIn {
    student: String,
    path: PathBuf,
}

#[derive(Serialize)]
struct ClassRow {
    student: String,
    file: String,
    #[serde(flatten)]
    grade: Grade,
}

/// Grades all files below a folder. That some do not pass is no error.
pub(crate) fn run(out: &mut Out, global: &Global, options: &ExerciseCheck, folder: &Path) -> Result<(), Error> {
    let files = handed_in(folder)?;
    let answer = TextOrJson::open(options.json.as_deref())?;
    let mut csv: Option<CsvFile<GradeRow>> =
        options.csv.as_deref().map(|path| CsvFile::open(path, Mode::Create)).transpose()?;
    let grader = Grader::new(global, options)?;
    let mut rows: Vec<ClassRow> = Vec::new();
    for HandedIn { student, path } in files {
        global.say(&format!("{}: {}", rows.len() + 1, crate::terminal::line(&path.display().to_string())));
        let grade = graded(&grader, &path)?;
        let file = path.display().to_string();
        csv.as_mut().map_or(Ok(()), |csv| csv.write(&GradeRow::of(&student, &file, &grade)))?;
        rows.push(ClassRow { student, file, grade });
    }
    csv.map_or(Ok(()), CsvFile::finish)?;
    let has_stdout = options.csv.as_deref() == Some("-");
    answer.tell(out, &rows, || if has_stdout { String::new() } else { table(&rows, Screen::stdout(false).width) })
}

fn graded(grader: &Grader, path: &Path) -> Result<Grade, Error> {
    let name = path.file_stem().map(|stem| stem.to_string_lossy().to_lowercase()).unwrap_or_default();
    let ending = path.extension().map(|ending| ending.to_string_lossy().into_owned()).unwrap_or_default();
    let refused = |why: String| Ok(Grade::begin(&name, 0).ended(ExerciseVerdict::Refused, why, ""));
    match exercise(&name)? {
        None => refused(format!(
            "there is no exercise of this name{}",
            did_you_mean(&nearest(&name, NAMES.iter().copied(), |n| n))
        )),
        Some(exercise) if exercise.file_name() != format!("{}.{ending}", exercise.name) => {
            refused(format!("this exercise is handed in as {}", exercise.file_name()))
        }
        Some(exercise) => grader.grade(&exercise, path),
    }
}

/// The files of each student: folders are students, files beside them are those of one more.
fn handed_in(folder: &Path) -> Result<Vec<HandedIn>, Error> {
    let mut files = Vec::new();
    for path in
        entries(folder).map_err(|e| Error::Usage(format!("cannot read the folder {}: {e}", folder.display())))?
    {
        let name = |path: &Path| path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        if fs::symlink_metadata(&path).is_ok_and(|about| about.is_dir()) {
            let of_student = entries(&path).unwrap_or_default().into_iter().filter(|file| is_submission(file));
            files.extend(of_student.map(|file| HandedIn { student: name(&path), path: file }));
        } else if is_submission(&path) {
            files.push(HandedIn { student: String::new(), path });
        }
    }
    if files.is_empty() {
        return Err(Error::Usage(format!(
            "{} holds no submissions: they are DIR/STUDENT/NAME.cl, and NAME.txt of questions, as in {}",
            folder.display(),
            folder.join("ada/transpose-banks.cl").display()
        )));
    }
    Ok(files)
}

fn entries(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut all: Vec<PathBuf> =
        fs::read_dir(folder)?.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    all.sort();
    Ok(all)
}

/// Kernels and sheets; other files are none of ours.
fn is_submission(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "cl" || ending == "txt")
}

/// A row for each submission, and what each student solved.
fn table(rows: &[ClassRow], width: usize) -> String {
    let fit = |of: fn(&ClassRow) -> &str| rows.iter().map(|row| of(row).chars().count()).max().unwrap_or(0);
    let students = fit(|row| &row.student).max(7);
    let exercises = fit(|row| &row.grade.exercise).max(8);
    let mut text = format!("{:<students$}  {:<exercises$}  {:<9}  why\n", "student", "exercise", "verdict");
    for ClassRow { student, grade, .. } in rows {
        let why = crate::terminal::line(&format::shorten(&grade.reason, 120));
        let first = format!(
            "{:<students$}  {:<exercises$}  {:<9}  ",
            crate::terminal::line(student),
            crate::terminal::line(&grade.exercise),
            grade.verdict.name()
        );
        match why.is_empty() {
            true => text += &format!("{}\n", first.trim_end()),
            false => text += &format::wrapped(&why, &first, "    ", width),
        }
    }
    let mut solved: BTreeMap<&str, usize> = BTreeMap::new();
    for row in rows {
        *solved.entry(&row.student).or_default() += usize::from(row.grade.verdict == ExerciseVerdict::Passed);
    }
    let each =
        solved.iter().map(|(student, count)| format!("{} {count}", crate::terminal::line(student)).trim().to_owned());
    let passed = format!("passed, of {} exercises: {}", NAMES.len(), each.joined(", "));
    text + "\n" + &format::wrap(&passed, width, "  ")
}
