//! What a page is made from.

use crate::format;
use crate::picture::Drawn;
use gpulab_record::{Point, Row, SampleRow};
use gpulab_study::ceilings::CeilingRow;
use gpulab_study::count::CountRow;
use gpulab_system::text::Joined;
use std::borrow::Cow;

#[derive(Clone, Copy)]
pub struct PageMaterial<'a> {
    pub folders: &'a [RecordedFolder],
    /// Counts that reasons are made of.
    pub counts: &'a [CountRow],
    /// Names of films that lie beside the page.
    pub films: &'a [String],
    /// The address of the page that leads to this one, if there is one.
    pub home: Option<&'a str>,
}

/// What the files of one folder hold. Machines of the same name differ by their folder.
#[derive(Default)]
pub struct RecordedFolder {
    /// Its name without those above it.
    pub name: String,
    pub rows: Vec<Row>,
    /// Experiments, one run on one device each.
    pub studies: Vec<RecordedStudy>,
    pub ceilings: Vec<CeilingRow>,
    pub samples: Vec<SampleRow>,
    /// Files' names, and the figures of other programs in them.
    pub peers: Vec<(String, Vec<Vec<String>>)>,
    pub files: Vec<DataFile>,
}

/// A run of an experiment, and what follows from it.
pub struct RecordedStudy {
    pub points: Vec<Point>,
    pub question: String,
    pub finding: String,
    pub picture: Drawn,
}

pub struct DataFile {
    /// Its name without its folder.
    pub name: String,
    pub bytes: usize,
    pub place: DataPlace,
}

pub enum DataPlace {
    /// In the page: these bytes.
    Held(Cow<'static, [u8]>),
    /// Beside the page: the address as seen from it.
    Linked(String),
}

pub(super) struct DevicePart<'a> {
    pub(super) folder: &'a RecordedFolder,
    /// The driver's platform and the device's name in short.
    pub(super) key: (String, String),
    pub(super) rows: Vec<Row>,
    pub(super) studies: Vec<&'a RecordedStudy>,
    pub(super) ceilings: Vec<CeilingRow>,
}

impl DevicePart<'_> {
    pub(super) fn name(&self) -> String {
        format::terminal(&self.key.1)
    }

    /// The platform, and the folder that its files lie in.
    pub(super) fn of(&self) -> String {
        let names = [self.key.0.as_str(), self.folder.name.as_str()];
        format::terminal(&names.into_iter().filter(|name| !name.is_empty()).joined(", "))
    }
}
